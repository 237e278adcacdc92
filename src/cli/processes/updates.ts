// Commands that send an update to a process: cancel, request-affidavit, otp, resend-otp, assertion, accept-contract,
// decide-video, update-video, reject-call (docs/design.md §13).
import { type Command, Option } from "commander";
import { EidAssertion } from "../../contracts/issue-certificate/contract.js";
import type { BatchAffidavitRequest } from "../../contracts/send-notice-batch/contract.js";
import type { PostalAffidavitRequest } from "../../contracts/send-postal/contract.js";
import { checkInput } from "../../contracts/shared/problems.js";
import { requireCapability } from "./capability.js";
import { addUpdateCommand, personName } from "../command.js";
import { idHelp, withProcess } from "../context.js";
import { enteredLine, noteVisible } from "../entered.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { invalidInput, jsonObject, readText } from "../files.js";
import { writeData, writeJson } from "../output/output.js";
import { answerText } from "./show.js";

interface UpdateOptions {
  json?: boolean | undefined;
  updateId?: string;
}

/** Who decides, and why. */
interface Stated {
  by?: string;
  note?: string;
}

export function addUpdates(program: Command): void {
  const cancel = addUpdateCommand(program, "cancel <id>", {
    summary:
      "cancel a letter before it is dispatched, a batch of notices before its start, or the post that would follow a notice",
    details: `${idHelp}
Ends with 0 on cancelled and on pending (the submit is in progress; the cancellation follows it);
with 1 on tooLate, notOwner, notPermitted, unknown, unavailable, and if the process has ended.`,
    example: "trustflow cancel order-7",
  });
  addStated(cancel).action((id: string, { json, updateId, ...stated }: UpdateOptions & Stated) =>
    withProcess(id, async (handle) => {
      const answer = await requireCapability(handle, "cancel", "cancellation")
        .cancel(updateId, stated)
        .catch(saysAlreadyCancelled(handle.workflowId));
      sayAnswer(answer, ["cancelled", "pending"], { json });
    }),
  );

  addUpdateCommand(program, "request-affidavit <id>", {
    summary: "request an affidavit on demand from the provider",
    details: `${idHelp}
For a batch, --notice says of which notice: its id, as "trustflow recipients" shows it. Its affidavits are in the batch's archive
only where collectAffidavits is set; the process stores no others: "trustflow provider affidavits" saves them.
A process takes 2,000 updates at most, these requests included.
Ends with 0 if the provider accepted the request, else with 1.`,
    example: `trustflow request-affidavit order-7 --include-document
trustflow request-affidavit campaign-7 --notice 0d5c2f0e-8b1f-4a53-8f0e-2f1c7f6f2c11`,
  })
    .option("--include-document", "include the document in the affidavit; of a letter")
    .option("--include-body", "include the body in the affidavit; of a notice")
    .option("--include-attachments", "include the attachments in the affidavit; of a notice")
    .option("--include-events", "include the events so far")
    .option("--notice <notice>", "the notice of a batch")
    .action(
      (
        id: string,
        {
          json,
          updateId,
          ...asked
        }: UpdateOptions & PostalAffidavitRequest & BatchAffidavitRequest,
      ) =>
        withProcess(id, async (handle) => {
          const answer = await requireCapability(
            handle,
            "requestAffidavit",
            "request for an affidavit",
          ).requestAffidavit(asked, updateId);
          sayAnswer(answer, ["requested"], { json });
        }),
    );

  addUpdateCommand(program, "otp <id> [code]", {
    summary: "submit the holder's one-time code",
    details: `${idHelp}
Without CODE, or with -, the command asks for the code on a terminal and does not show it; otherwise it reads one line of stdin.
A CODE on the command line is visible to other users of this machine (ps), and the shell's history keeps it.
Ends with 0 if the code was accepted, with 1 on wrong, expired, locked, unavailable, unknown.`,
    example: "trustflow otp order-7\ntrustflow otp issueCertificate/order-7 - --json < code.txt",
  }).action((id: string, code = "-", options: UpdateOptions) => {
    const isEntered = code === "-";
    if (!isEntered && !options.json)
      noteVisible("The code", "leave it out: the command asks for it");
    return withProcess(id, async (found) => {
      const handle = requireCapability(found, "submitOtp", "code");
      const given = isEntered ? await enteredCode(handle.workflowId) : code;
      sayAnswer(await handle.submitOtp(given, options.updateId), ["accepted"], options);
    });
  });

  addUpdateCommand(program, "resend-otp <id>", {
    summary: "send the holder a new one-time code",
    details: `${idHelp}\nEnds with 0 if the code was sent, with 1 on tooSoon, limitReached, refused, expired, unavailable, unknown.`,
    example: "trustflow resend-otp order-7",
  }).action((id: string, options: UpdateOptions) =>
    withProcess(id, async (handle) => {
      sayAnswer(
        await requireCapability(handle, "resendOtp", "code").resendOtp(options.updateId),
        ["sent"],
        options,
      );
    }),
  );

  addUpdateCommand(program, "assertion <id>", {
    summary: "submit a new eID assertion after a rejection",
    details: `${idHelp}
The file holds the assertion in base64, or its JSON document. Ends with 0 on accepted and on pending
(received, but not answered in time), with 1 on expired, invalid, notAwaited.`,
    example: "trustflow assertion order-7 --file assertion.json",
  })
    .requiredOption("--file <file>", "file with the assertion, or - for stdin")
    .action(async (id: string, { file, ...options }: UpdateOptions & { file: string }) => {
      const assertion = await readAssertion(file);
      await withProcess(id, async (handle) => {
        const answer = await requireCapability(
          handle,
          "provideAssertion",
          "assertion",
        ).provideAssertion(assertion, options.updateId);
        sayAnswer(answer, ["accepted", "pending"], options);
      });
    });

  addSigning(program);
  addVideoUpdate(program);
  addRejection(program);
}

function addSigning(program: Command): void {
  const acceptContract = addUpdateCommand(program, "accept-contract <id>", {
    summary: "accept or refuse the contract of a signature",
    details: `${idHelp}
Only for a process with requireContractAccepted; the contract is one of the process's documents.
Ends with 0 on accepted and refused, with 1 on unavailable and if the process does not wait for it.`,
    example: "trustflow accept-contract order-7\ntrustflow accept-contract order-7 --refuse",
  }).option("--refuse", "refuse the contract: the process ends");
  addStated(acceptContract).action(
    (
      id: string,
      { refuse, json, updateId, ...stated }: UpdateOptions & Stated & { refuse?: true },
    ) =>
      withProcess(id, async (handle) => {
        const taker = requireCapability(handle, "acceptContract", "contract");
        const answer = await taker.acceptContract(!refuse, updateId, stated);
        sayAnswer(answer, ["accepted", "refused"], { json });
      }),
  );

  const decideVideo = addUpdateCommand(program, "decide-video <id>", {
    summary: "approve or cancel an identity video",
    details: `${idHelp}\nEnds with 0 on approved and cancelled, with 1 on refused, unknown, unavailable, notAwaited.`,
    example: "trustflow decide-video order-7 --decision approve",
  }).addOption(
    new Option("--decision <decision>", "the decision")
      .choices(["approve", "cancel"])
      .makeOptionMandatory(),
  );
  addStated(decideVideo).action(
    (
      id: string,
      {
        decision,
        json,
        updateId,
        ...stated
      }: UpdateOptions & Stated & { decision: "approve" | "cancel" },
    ) =>
      withProcess(id, async (handle) => {
        const taker = requireCapability(handle, "decideVideo", "identity video");
        const answer = await taker.decideVideo(decision, updateId, stated);
        sayAnswer(answer, ["approved", "cancelled"], { json });
      }),
  );
}

function addVideoUpdate(program: Command): void {
  const updateVideo = addUpdateCommand(program, "update-video <id>", {
    summary: "change the request of an identity video before it is decided",
    details: `${idHelp}
Ends with 0 on updated, with 1 on refused, unknown, unavailable, and on notAwaited: the video is not uploaded yet, or decided.`,
    example: "trustflow update-video order-7 --fields fields.json",
  }).requiredOption(
    "--fields <file>",
    "JSON object with the provider's own fields of the request, or - for stdin",
  );
  addStated(updateVideo).action(
    async (
      id: string,
      { fields: file, json, updateId, ...stated }: UpdateOptions & Stated & { fields: string },
    ) => {
      const fields = jsonObject(await readText(file, "--fields"), "--fields", file);
      await withProcess(id, async (handle) => {
        const taker = requireCapability(handle, "updateVideo", "identity video");
        sayAnswer(await taker.updateVideo(fields, updateId, stated), ["updated"], { json });
      });
    },
  );
}

function addRejection(program: Command): void {
  const rejectCall = addUpdateCommand(program, "reject-call <id>", {
    summary: "reject the call of an identification by video",
    details: `${idHelp}
Ends with 0 on rejected, with 1 on notAwaited, refused, unknown, unavailable.`,
    example: "trustflow reject-call order-7\ntrustflow reject-call order-7 --fields reason.json",
  }).option(
    "--fields <file>",
    "JSON object with the provider's own fields of the request, or - for stdin",
  );
  addStated(rejectCall).action(
    async (
      id: string,
      {
        fields: file = "",
        json,
        updateId,
        ...stated
      }: UpdateOptions & Stated & { fields?: string },
    ) => {
      const fields =
        file === "" ? undefined : jsonObject(await readText(file, "--fields"), "--fields", file);
      await withProcess(id, async (handle) => {
        const taker = requireCapability(handle, "rejectCall", "rejection of a call");
        const answer = await taker.rejectCall(fields, updateId, stated);
        sayAnswer(answer, ["rejected"], { json });
      });
    },
  );
}

/** Options of a command that makes a decision. The key of `keys.operator` signs the decision, if one is configured. */
function addStated(command: Command): Command {
  return command
    .option("--by <name>", "name of the person who decides; shown in the timeline", personName)
    .option("--note <text>", "reason; shown in the timeline");
}

function saysAlreadyCancelled(workflowId: string): (error: unknown) => never {
  return (error) => {
    const { name, outcome = "" } = error as { name?: string; outcome?: string };
    if (name === "FinishedError" && outcome.startsWith("cancelled"))
      throw new CommandError(exitCodes.failed, `${workflowId} is already cancelled`);
    throw error;
  };
}

function sayAnswer(given: { answer: string }, expected: string[], { json }: UpdateOptions): void {
  if (json) writeJson(given);
  else writeData(answerText(given));
  if (!expected.includes(given.answer)) process.exitCode = exitCodes.failed;
}

async function enteredCode(workflowId: string): Promise<string> {
  const code = await enteredLine(`The holder's code for ${workflowId} (not shown):`);
  if (code !== "") return code;
  throw invalidInput([{ path: "code", problem: "is required" }]);
}

/** Reads an assertion in base64, or a JSON document, which it encodes in base64. */
async function readAssertion(file: string): Promise<string> {
  const text = await readText(file, "--file");
  const isJson = text.trimStart().startsWith("{");
  const assertion = isJson ? Buffer.from(text).toString("base64") : text.replaceAll(/\s/g, "");
  const { fields } = checkInput(EidAssertion, assertion, ["--file"]);
  if (fields.length > 0) throw invalidInput(fields);
  return assertion;
}
