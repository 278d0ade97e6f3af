package ledger

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	"github.com/holdfast-aws/holdfast/shared/fault"
)

// PartBytesMax is how much compressed content one item takes; more is split. Source: DynamoDB developer guide, an item may
// have at most 400 KB, names of attributes included.
const PartBytesMax = 350 << 10

// pack gives the same bytes for the same content: a repeated transaction has to be identical to its first try.
func pack(content any) ([]byte, error) {
	plain, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encode content: %w: %w", fault.Refused, err)
	}
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("compress content: %w: %w", fault.Refused, err)
	}
	if _, err := zip.Write(plain); err != nil {
		return nil, fmt.Errorf("compress content: %w: %w", fault.Refused, err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("compress content: %w: %w", fault.Refused, err)
	}
	return out.Bytes(), nil
}

// unpack also checks the length and the checksum that the compressed form carries.
func unpack(data []byte, into any) error {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("expand content: %w", err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		return fmt.Errorf("expand content: %w", err)
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("decode content: %w", err)
	}
	return nil
}

func split(data []byte) [][]byte {
	var parts [][]byte
	for len(data) > PartBytesMax {
		parts = append(parts, data[:PartBytesMax])
		data = data[PartBytesMax:]
	}
	return append(parts, data)
}
