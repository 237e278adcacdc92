// The crash points of `sendPostal` (docs/design.md §6).
import { testEveryCrashPoint } from "../../support/crash-promise.js";
import { sendPostalUnderTest } from "../../support/send-postal-under-test.js";

testEveryCrashPoint(sendPostalUnderTest);
