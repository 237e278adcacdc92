package trustflow.example;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The payload codec of docs/any-language.md: AES-256-GCM under the ring keys.codec, and a tag of the ring keys.codecWrite where the
 * deployment has one. The tag holds for one process, so each process has a codec of its own.
 */
final class Codec implements PayloadCodec {
  private static final int KEY_BYTES = 32;
  private static final int IV_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final String ENCRYPTED = "binary/encrypted";

  private final Map<String, byte[]> ring;
  private final Map<String, byte[]> writeRing;
  private final byte[] process;
  private final SecureRandom random = new SecureRandom();

  Codec(Map<String, byte[]> ring, Map<String, byte[]> writeRing, String namespace, String workflowId) {
    this.ring = ring;
    this.writeRing = writeRing;
    this.process = ("trustflow\n" + namespace + "\n" + workflowId + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /** A ring is "id:base64,id:base64…": the first key encrypts, every key decrypts. */
  static Map<String, byte[]> parseRing(String text) {
    Map<String, byte[]> ring = new LinkedHashMap<>();
    for (String entry : text.split(",")) {
      String[] parts = entry.split(":", 2);
      byte[] key = Base64.getDecoder().decode(parts.length == 2 ? parts[1] : "");
      if (key.length != KEY_BYTES) throw new IllegalArgumentException("a key of the ring has not 32 bytes of base64");
      ring.put(parts[0], key);
    }
    return ring;
  }

  @Override
  public List<Payload> encode(List<Payload> payloads) {
    return payloads.stream().map(this::sealed).toList();
  }

  @Override
  public List<Payload> decode(List<Payload> payloads) {
    return payloads.stream().map(this::opened).toList();
  }

  private Payload sealed(Payload payload) {
    Map.Entry<String, byte[]> key = ring.entrySet().iterator().next();
    byte[] iv = new byte[IV_BYTES];
    random.nextBytes(iv);
    ByteString data =
        ByteString.copyFrom(iv).concat(ByteString.copyFrom(crypt(Cipher.ENCRYPT_MODE, key.getValue(), iv, payload.toByteArray())));
    Payload.Builder builder =
        Payload.newBuilder()
            .putMetadata("encoding", ByteString.copyFromUtf8(ENCRYPTED))
            .putMetadata("encryption-key-id", ByteString.copyFromUtf8(key.getKey()))
            .setData(data);
    if (!writeRing.isEmpty()) {
      String writeKeyId = writeRing.keySet().iterator().next();
      builder.putMetadata("trustflow-write-key-id", ByteString.copyFromUtf8(writeKeyId));
      builder.putMetadata("trustflow-write-tag", ByteString.copyFrom(tag(data.toByteArray())));
    }
    return builder.build();
  }

  byte[] tag(byte[] data) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(writeRing.values().iterator().next(), "HmacSHA256"));
      mac.update(process);
      return mac.doFinal(data);
    } catch (GeneralSecurityException error) {
      throw new PayloadCodecException(error);
    }
  }

  /** Refuses what is not encrypted: anyone with access to Temporal can write that. */
  private Payload opened(Payload payload) {
    if (!ENCRYPTED.equals(payload.getMetadataOrDefault("encoding", ByteString.EMPTY).toStringUtf8()))
      throw new PayloadCodecException("an answer is not encrypted");
    byte[] key = ring.get(payload.getMetadataOrDefault("encryption-key-id", ByteString.EMPTY).toStringUtf8());
    if (key == null) throw new PayloadCodecException("the ring has no such key");
    byte[] iv = payload.getData().substring(0, IV_BYTES).toByteArray();
    try {
      return Payload.parseFrom(crypt(Cipher.DECRYPT_MODE, key, iv, payload.getData().substring(IV_BYTES).toByteArray()));
    } catch (InvalidProtocolBufferException error) {
      throw new PayloadCodecException(error);
    }
  }

  private static byte[] crypt(int mode, byte[] key, byte[] iv, byte[] bytes) {
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_BITS, iv));
      return cipher.doFinal(bytes);
    } catch (GeneralSecurityException error) {
      throw new PayloadCodecException(error);
    }
  }
}
