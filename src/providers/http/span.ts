// Spans of OpenTelemetry (docs/operations/watch.md). They are made in any case, and go nowhere unless src/roles/tracing.ts has set up an
// export. They carry names and ids that are in clear everywhere, and no text of an input, an answer or an error.
import { SpanStatusCode, trace } from "@opentelemetry/api";
import type { Span, SpanOptions } from "@opentelemetry/api";

const tracer = trace.getTracer("trustflow");
const NAME = /^[\w.$-]{1,80}$/;

/** A span around `work`; an error ends it with its type, and passes on. */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failed(span, typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

export function failed(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", type);
}

/** The kind of a ProviderError, the type of Temporal's failures, else the name of the class. */
function typeOf(error: unknown): string {
  const { kind, type, name } = (error ?? {}) as Record<string, unknown>;
  const named = [kind, type, name].find((text) => typeof text === "string" && NAME.test(text));
  return (named as string | undefined) ?? "Error";
}
