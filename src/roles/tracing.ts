// Exports spans by OTLP over HTTP if the environment asks for it, as OpenTelemetry's specification has it. Nothing of it is loaded otherwise.
import { setTimeout as delay } from "node:timers/promises";
import { diag, DiagLogLevel } from "@opentelemetry/api";
import type { RoleLogger } from "./role.js";

const CLOSE_MS = 2_000;

function isOn(env: NodeJS.ProcessEnv): boolean {
  const endpoint = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const exporter = env["OTEL_TRACES_EXPORTER"] || (endpoint ? "otlp" : "none");
  return exporter === "otlp" && env["OTEL_SDK_DISABLED"]?.toLowerCase() !== "true";
}

/** An export that fails loses its spans, and stops nothing. `close` waits two seconds at most for the last ones. */
export async function startTracing(
  role: string,
  log: Pick<RoleLogger, "warn">,
): Promise<{ close(): Promise<void> }> {
  if (!isOn(process.env)) return { close: () => Promise.resolve() };
  warnOnce(log);
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

/** OpenTelemetry's own texts may quote the collector's answer, so they are not shown. */
function warnOnce(log: Pick<RoleLogger, "warn">): void {
  let isSaid = false;
  const say = (): void => {
    if (!isSaid) log.warn("OpenTelemetry has a problem, and spans may be lost; this is said once");
    isSaid = true;
  };
  const none = (): void => undefined;
  const logger = { error: say, warn: none, info: none, debug: none, verbose: none };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
}
