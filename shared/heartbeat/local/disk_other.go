//go:build !linux

package local

import "errors"

func spaceOf(string) (space, error) {
	return space{}, errors.New("free space can be read on Linux only")
}
