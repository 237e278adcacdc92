package main

import (
	"encoding/hex"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
)

// The examples of docs/any-language.md.
const (
	ring      = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	writeRing = "w1:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
	value     = `{"code":"123456"}`
	data      = "a0a1a2a3a4a5a6a7a8a9aaabec0e762520a561d0060ce9b41570aaad1fc27660fed62b028e1f5da41cc41164f04c65ce9d11670869be79475dbd26311f874eadc8503066c6818c"
	tag       = "1d6577cf72e49fa3c85d325c50b6a5299ac156782cd3199515d96fcb5b4d56c5"
)

func example(t *testing.T) codec {
	keys, err := parseRing(ring)
	if err != nil {
		t.Fatal(err)
	}
	writeKeys, err := parseRing(writeRing)
	if err != nil {
		t.Fatal(err)
	}
	return codec{keys, writeKeys, "default", "issueCertificate/order-7"}
}

func TestReadsAndTagsTheExample(t *testing.T) {
	bytes, _ := hex.DecodeString(data)
	metadata := map[string][]byte{"encoding": []byte("binary/encrypted"), "encryption-key-id": []byte("k1")}
	decoded, err := example(t).Decode([]*commonpb.Payload{{Metadata: metadata, Data: bytes}})
	if err != nil || string(decoded[0].Data) != value {
		t.Fatalf("decoded %v, %v", decoded, err)
	}
	if got := hex.EncodeToString(example(t).tag(bytes)); got != tag {
		t.Fatalf("the tag is %s", got)
	}
}

func TestReadsWhatItWrites(t *testing.T) {
	plain := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(value)}
	encoded, err := example(t).Encode([]*commonpb.Payload{plain})
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := example(t).Decode(encoded)
	if err != nil || string(decoded[0].Data) != value {
		t.Fatalf("decoded %v, %v", decoded, err)
	}
}

func TestRefusesWhatIsNotEncryptedOrChanged(t *testing.T) {
	plain := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(value)}
	if _, err := example(t).Decode([]*commonpb.Payload{plain}); err == nil {
		t.Fatal("took a payload in clear")
	}
	encoded, err := example(t).Encode([]*commonpb.Payload{plain})
	if err != nil {
		t.Fatal(err)
	}
	encoded[0].Data[20] ^= 1
	if _, err := example(t).Decode(encoded); err == nil {
		t.Fatal("took a payload that was changed")
	}
}
