// Exports spans by OTLP over HTTP if the environment names an endpoint, as OpenTelemetry's specification has it. Nothing of it is loaded
// otherwise.
import { setTimeout as delay } from "node:timers/promises";

const CLOSE_MS = 2_000;

const isOn = ({
  OTEL_SDK_DISABLED,
  OTEL_TRACES_EXPORTER = "otlp",
  OTEL_EXPORTER_OTLP_ENDPOINT,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
}: NodeJS.ProcessEnv) =>
  OTEL_SDK_DISABLED !== "true" &&
  OTEL_TRACES_EXPORTER === "otlp" &&
  Boolean(OTEL_EXPORTER_OTLP_ENDPOINT || OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);

/** An export that fails loses its spans, and stops nothing. `close` waits two seconds at most for the last ones. */
export async function startTracing(role: string): Promise<{ close(): Promise<void> }> {
  if (!isOn(process.env)) return { close: () => Promise.resolve() };
  const { NodeTracerProvider, BatchSpanProcessor } = await import("@opentelemetry/sdk-trace-node");
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import("@opentelemetry/resources");
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": `trustflow-${role}` }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return {
    close: () =>
      Promise.race([provider.shutdown().catch(() => undefined), delay(CLOSE_MS)]).then(() => {}),
  };
}
