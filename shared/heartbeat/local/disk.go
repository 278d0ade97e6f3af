package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// DiskOptions describe a file system that the host needs.
type DiskOptions struct {
	// Path is a folder on it, absolute.
	Path string
	// FreeBytes and FreeInodes are the least that must be free for the agent's user; 0 leaves the rule out.
	FreeBytes, FreeInodes uint64
	// Writable says that a small file is written to Path, flushed and removed.
	Writable bool
}

// Disk makes a check of free bytes and inodes, and of writing. File systems without a fixed number of inodes pass the inode rule.
func Disk(o DiskOptions) (func(context.Context) error, error) {
	if !filepath.IsAbs(o.Path) {
		return nil, fmt.Errorf("path %q, want an absolute path", o.Path)
	}
	if o.FreeBytes == 0 && o.FreeInodes == 0 && !o.Writable {
		return nil, errors.New("nothing to check: want free_bytes, free_inodes or writable")
	}
	return func(ctx context.Context) error {
		space, err := spaceOf(o.Path)
		if err != nil {
			return fmt.Errorf("read free space: %w", err)
		}
		if space.bytes < o.FreeBytes {
			return fmt.Errorf("%d bytes free, want at least %d", space.bytes, o.FreeBytes)
		}
		if space.inodesTotal > 0 && space.inodes < o.FreeInodes {
			return fmt.Errorf("%d inodes free, want at least %d", space.inodes, o.FreeInodes)
		}
		if err := ctx.Err(); err != nil || !o.Writable {
			return err
		}
		return writeOnce(o.Path)
	}, nil
}

// space is what a file system has left for an ordinary user.
type space struct{ bytes, inodes, inodesTotal uint64 }

// writeOnce proves that a byte reaches the disk, not only the cache.
func writeOnce(folder string) error {
	file, err := os.CreateTemp(folder, ".holdfast-heartbeat-*")
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	_, err = file.Write([]byte("beat\n"))
	if err == nil {
		err = file.Sync()
	}
	// Whatever happened before, nothing may stay behind.
	if err := errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}
