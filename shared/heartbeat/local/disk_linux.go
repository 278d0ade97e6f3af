package local

import "syscall"

func spaceOf(path string) (space, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return space{}, err
	}
	return space{bytes: s.Bavail * uint64(s.Bsize), inodes: s.Ffree, inodesTotal: s.Files}, nil
}
