package trustflow.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodecException;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The codec against the examples of docs/any-language.md. */
class CodecTest {
  private static final String RING = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  private static final String WRITE_RING = "w1:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
  private static final String DATA =
      "a0a1a2a3a4a5a6a7a8a9aaabec0e762520a561d0060ce9b41570aaad1fc27660fed62b028e1f5da41cc41164f04c65ce9d11670869be79475dbd26311f874eadc8503066c6818c";
  private static final String TAG = "1d6577cf72e49fa3c85d325c50b6a5299ac156782cd3199515d96fcb5b4d56c5";

  private final Codec codec =
      new Codec(Codec.parseRing(RING), Codec.parseRing(WRITE_RING), "default", "issueCertificate/order-7");
  private final Payload plain = payload("json/plain", ByteString.copyFromUtf8("{\"code\":\"123456\"}")).build();

  private static Payload.Builder payload(String encoding, ByteString data) {
    return Payload.newBuilder().putMetadata("encoding", ByteString.copyFromUtf8(encoding)).setData(data);
  }

  @Test
  void readsAndTagsTheExample() {
    byte[] data = HexFormat.of().parseHex(DATA);
    Payload example =
        payload("binary/encrypted", ByteString.copyFrom(data))
            .putMetadata("encryption-key-id", ByteString.copyFromUtf8("k1"))
            .build();
    assertEquals(List.of(plain), codec.decode(List.of(example)));
    assertEquals(TAG, HexFormat.of().formatHex(codec.tag(data)));
  }

  @Test
  void readsWhatItWrites() {
    assertEquals(List.of(plain), codec.decode(codec.encode(List.of(plain))));
  }

  @Test
  void refusesWhatIsNotEncryptedOrChanged() {
    assertThrows(PayloadCodecException.class, () -> codec.decode(List.of(plain)));
    Payload sealed = codec.encode(List.of(plain)).get(0);
    byte[] data = sealed.getData().toByteArray();
    data[20] ^= 1;
    Payload changed = sealed.toBuilder().setData(ByteString.copyFrom(data)).build();
    assertThrows(PayloadCodecException.class, () -> codec.decode(List.of(changed)));
  }
}
