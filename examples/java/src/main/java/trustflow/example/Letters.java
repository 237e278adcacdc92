package trustflow.example;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.converter.CodecDataConverter;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DefaultDataConverter;
import io.temporal.common.converter.JacksonJsonPayloadConverter;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import trustflow.example.types.issuecertificate.IssueCertificateInput;
import trustflow.example.types.issuecertificate.result.IssueCertificateResult;
import trustflow.example.types.sendpostal.RecipientAddress;
import trustflow.example.types.sendpostal.SendPostalInput;
import trustflow.example.types.sendpostal.Settings;
import trustflow.example.types.sendpostal.result.SendPostalResult;

/** Starts processes of Trustflow with the Temporal client of Java, submits a one-time password, and reads results. */
public final class Letters {
  private static final Path EXAMPLES = Path.of(System.getProperty("examples", "examples"));
  private static final String NAMESPACE = System.getenv().getOrDefault("TEMPORAL_NAMESPACE", "default");
  /** A later release of Trustflow may add members to a result. */
  private static final ObjectMapper JSON =
      JacksonJsonPayloadConverter.newDefaultObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

  public static void main(String[] args) throws Exception {
    if (args.length != 2) throw new IllegalArgumentException("usage: letter|certificate|otp|result ID");
    switch (args[0]) {
      case "letter" -> sendLetter(args[1]);
      case "certificate" -> issueCertificate(args[1]);
      case "otp" -> submitOtp("issueCertificate/" + args[1]);
      case "result" -> showResult(args[1]);
      default -> throw new IllegalArgumentException("unknown command " + args[0]);
    }
    // The client has threads that would keep the program running.
    System.exit(0);
  }

  private static void sendLetter(String id) throws IOException {
    String content = Base64.getEncoder().encodeToString(Files.readAllBytes(EXAMPLES.resolve("letter.pdf")));
    RecipientAddress address =
        new RecipientAddress()
            .withStreetAddress("Calle Mayor 1")
            .withPostalCode("28013")
            .withLocality("Madrid")
            .withRegion("Madrid")
            .withCountry("ES");
    SendPostalInput letter =
        new SendPostalInput()
            .withDocument(Map.of("base64", content, "mediaType", "application/pdf"))
            .withLookupKey(id)
            .withRecipientName("sandbox:delivered")
            .withRecipientAddress(address)
            .withSettings(new Settings().withAffidavitWindowSeconds(10));
    start("sendPostal", id, letter);
    showResult("sendPostal/" + id);
  }

  private static void issueCertificate(String id) throws IOException {
    IssueCertificateInput holder =
        JSON.readValue(EXAMPLES.resolve("holder.json").toFile(), IssueCertificateInput.class);
    holder.getDisposableHolder().setIdentificationCode(id);
    start("issueCertificate", id, holder);
  }

  /** Starts a process, or joins the one of the same id and input. */
  private static void start(String process, String id, Object input) {
    String workflowId = process + "/" + id;
    WorkflowClient client = connect(workflowId);
    WorkflowOptions options =
        WorkflowOptions.newBuilder()
            .setWorkflowId(workflowId)
            .setTaskQueue("trustflow")
            .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
            .setWorkflowIdConflictPolicy(WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL)
            .build();
    try {
      client.newUntypedWorkflowStub(process, options).start(input);
    } catch (WorkflowExecutionAlreadyStarted error) {
      if (!firstInput(client, workflowId).equals(JSON.convertValue(input, Map.class)))
        throw new IllegalStateException(workflowId + " was started with another input");
    }
    System.out.println(workflowId);
  }

  /** Is in the first event of the history, whichever client started the process. */
  private static Map<?, ?> firstInput(WorkflowClient client, String workflowId) {
    Payloads input =
        client.fetchHistory(workflowId).getEvents().get(0).getWorkflowExecutionStartedEventAttributes().getInput();
    return client.getOptions().getDataConverter().fromPayloads(0, Optional.of(input), Map.class, Map.class);
  }

  private static void submitOtp(String workflowId) throws Exception {
    String code = new BufferedReader(new InputStreamReader(System.in)).readLine();
    WorkflowStub process = connect(workflowId).newUntypedWorkflowStub(workflowId);
    // Where no worker runs, the SDK would ask without an end.
    Map<?, ?> answer =
        CompletableFuture.supplyAsync(() -> process.update("submitOtp", Map.class, Map.of("code", code.strip())))
            .get(30, TimeUnit.SECONDS);
    System.out.println(answer.get("answer"));
  }

  private static void showResult(String workflowId) {
    WorkflowStub process = connect(workflowId).newUntypedWorkflowStub(workflowId);
    Object outcome =
        workflowId.startsWith("sendPostal/")
            ? process.getResult(SendPostalResult.class).getOutcome().value()
            : process.getResult(IssueCertificateResult.class).getOutcome().value();
    System.out.println(workflowId + ": " + outcome);
  }

  /** A client for one process: the write tag holds for its id alone. */
  private static WorkflowClient connect(String workflowId) {
    String writeKey = System.getenv("TRUSTFLOW_KEYS__CODEC_WRITE");
    Codec codec =
        new Codec(
            Codec.parseRing(System.getenv("TRUSTFLOW_KEYS__CODEC")),
            writeKey == null ? Map.of() : Codec.parseRing(writeKey),
            NAMESPACE,
            workflowId);
    DataConverter plain =
        DefaultDataConverter.newDefaultInstance().withPayloadConverterOverrides(new JacksonJsonPayloadConverter(JSON));
    // `true`: the message and the stack trace of a failure are encrypted too.
    DataConverter converter = new CodecDataConverter(plain, List.of(codec), true);
    WorkflowServiceStubsOptions address =
        WorkflowServiceStubsOptions.newBuilder().setTarget(System.getenv("TEMPORAL_ADDRESS")).build();
    return WorkflowClient.newInstance(
        WorkflowServiceStubs.newServiceStubs(address),
        WorkflowClientOptions.newBuilder().setNamespace(NAMESPACE).setDataConverter(converter).build());
  }
}
