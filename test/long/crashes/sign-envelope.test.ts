// The crash points of `signEnvelope` (docs/design.md §6).
import { testEveryCrashPoint } from "../../support/crash-promise.js";
import { signEnvelopeUnderTest } from "../../support/sign-envelope-under-test.js";

testEveryCrashPoint(signEnvelopeUnderTest);
