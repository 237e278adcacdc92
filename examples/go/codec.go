package main

// The payload codec of docs/any-language.md: AES-256-GCM under the ring keys.codec, and a tag of the ring keys.codecWrite where the
// deployment has one.

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
)

type key struct {
	id    string
	bytes []byte
}

// A ring is "id:base64,id:base64…": the first key encrypts, every key decrypts.
func parseRing(text string) ([]key, error) {
	var ring []key
	for _, entry := range strings.Split(text, ",") {
		id, encoded, _ := strings.Cut(entry, ":")
		bytes, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(bytes) != 32 {
			return nil, errors.New("a key of the ring has not 32 bytes of base64")
		}
		ring = append(ring, key{id, bytes})
	}
	return ring, nil
}

// The tag holds for one process, so each process has a codec of its own.
type codec struct {
	ring, writeRing       []key
	namespace, workflowID string
}

func (c codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	encoded := make([]*commonpb.Payload, len(payloads))
	for i, payload := range payloads {
		plain, err := proto.Marshal(payload)
		if err != nil {
			return nil, err
		}
		gcm, err := cipherOf(c.ring[0])
		if err != nil {
			return nil, err
		}
		iv := make([]byte, gcm.NonceSize())
		if _, err := rand.Read(iv); err != nil {
			return nil, err
		}
		data := gcm.Seal(iv, iv, plain, nil)
		metadata := map[string][]byte{
			"encoding":          []byte("binary/encrypted"),
			"encryption-key-id": []byte(c.ring[0].id),
		}
		if len(c.writeRing) > 0 {
			metadata["trustflow-write-key-id"] = []byte(c.writeRing[0].id)
			metadata["trustflow-write-tag"] = c.tag(data)
		}
		encoded[i] = &commonpb.Payload{Metadata: metadata, Data: data}
	}
	return encoded, nil
}

func (c codec) tag(data []byte) []byte {
	mac := hmac.New(sha256.New, c.writeRing[0].bytes)
	fmt.Fprintf(mac, "trustflow\n%s\n%s\n", c.namespace, c.workflowID)
	mac.Write(data)
	return mac.Sum(nil)
}

// Refuses what is not encrypted: anyone with access to Temporal can write that.
func (c codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	decoded := make([]*commonpb.Payload, len(payloads))
	for i, payload := range payloads {
		if string(payload.Metadata["encoding"]) != "binary/encrypted" {
			return nil, errors.New("an answer is not encrypted")
		}
		plain, err := c.open(payload)
		if err != nil {
			return nil, err
		}
		decoded[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(plain, decoded[i]); err != nil {
			return nil, err
		}
	}
	return decoded, nil
}

func (c codec) open(payload *commonpb.Payload) ([]byte, error) {
	id := string(payload.Metadata["encryption-key-id"])
	for _, one := range c.ring {
		if one.id != id {
			continue
		}
		gcm, err := cipherOf(one)
		if err != nil {
			return nil, err
		}
		if len(payload.Data) < gcm.NonceSize() {
			return nil, errors.New("an encrypted payload is too short")
		}
		return gcm.Open(nil, payload.Data[:gcm.NonceSize()], payload.Data[gcm.NonceSize():], nil)
	}
	return nil, fmt.Errorf("the ring has no key %q", id)
}

func cipherOf(one key) (cipher.AEAD, error) {
	block, err := aes.NewCipher(one.bytes)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
