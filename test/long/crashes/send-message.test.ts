// The crash points of `sendMessage` (docs/design.md §6).
import { testEveryCrashPoint } from "../../support/crash-promise.js";
import { sendMessageUnderTest } from "../../support/send-message-under-test.js";

testEveryCrashPoint(sendMessageUnderTest);
