package sim

import (
	"errors"
	"fmt"
)

// ErrExists is returned when a name is taken.
var ErrExists = errors.New("name already exists")

// ErrInvalid is returned for a value that AWS would refuse.
var ErrInvalid = errors.New("invalid value")

// NotFoundError is returned for a group, instance, target group or alarm that does not exist.
type NotFoundError struct {
	// Kind is group, instance, target group, alarm or dependency.
	Kind string
	// Name is what was asked for.
	Name string
}

// Error implements error.
func (e *NotFoundError) Error() string { return fmt.Sprintf("%s %q not found", e.Kind, e.Name) }

// GraceError is returned when a mark is refused because the member is younger than the grace period of its group.
type GraceError struct {
	// Age is the age of the member in whole seconds since InService, Grace the grace period in seconds.
	Age, Grace int64
}

// Error implements error.
func (e *GraceError) Error() string {
	return fmt.Sprintf("age of the instance (%d s) is less than the grace period of %d s", e.Age, e.Grace)
}

// LifecycleError is returned when a call does not fit the lifecycle state of the member.
type LifecycleError struct {
	ID    string
	State Lifecycle
}

// Error implements error.
func (e *LifecycleError) Error() string { return fmt.Sprintf("instance %s is %s", e.ID, e.State) }

// UnknownProcessError is returned for a scaling process that does not exist. Nothing was changed.
type UnknownProcessError struct {
	Name string
}

// Error implements error.
func (e *UnknownProcessError) Error() string { return fmt.Sprintf("unknown process %q", e.Name) }
