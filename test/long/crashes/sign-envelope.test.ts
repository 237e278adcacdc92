// The crash points of `signEnvelope` (DESIGN §6).
import { testEveryCrashPoint } from "../../support/crash-promise.js";
import { signEnvelopeUnderTest } from "../../support/sign-envelope-under-test.js";

testEveryCrashPoint(signEnvelopeUnderTest);
