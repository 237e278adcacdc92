// The crash points of `signEnvelope` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { signEnvelopeUnderTest } from "../../processes/sign-envelope/under-test.js";

testEveryCrashPoint(signEnvelopeUnderTest);
