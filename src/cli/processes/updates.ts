// Commands that send an update to a process: cancel, request-affidavit, otp, resend-otp, await-otp, assertion, accept-contract,
// decide-video, update-video, reject-call (docs/design.md §13).
import { type Command, Option } from "commander";
import { EidAssertion } from "../../contracts/processes.js";
import { checkInput } from "../../contracts/shared/problems.js";
import { processId, requireCapability, withProcess } from "../context.js";
import type { HandleWith } from "../context.js";
import { addUpdateCommand, type CommandText, personName } from "../command.js";
import { enteredLine, noteVisible } from "../entered.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { invalidInput, jsonObject, readText } from "../files.js";
import { writeAnswer } from "../output/output.js";
import { answerText } from "./show.js";

interface UpdateOptions {
  json?: boolean | undefined;
  updateId?: string;
}

/** Who decides, and why. */
interface DecisionOptions extends UpdateOptions {
  by?: string;
  note?: string;
}

const FIELDS = "JSON object with the provider's own fields of the request, or - for stdin";

/** Sends the update; each answer but the `expected` ones ends with 1. `what` names the update in an error. */
function send<M extends string>(
  id: string,
  [method, what]: [M, what: string],
  { json }: UpdateOptions,
  expected: string[],
  update: (handle: HandleWith<M>) => Promise<{ answer: string }>,
): Promise<void> {
  return withProcess(id, async (found) => {
    const given = await update(requireCapability(found, method, what));
    writeAnswer(json, given, answerText(given, found.workflowId));
    if (!expected.includes(given.answer)) process.exitCode = exitCodes.failed;
  });
}

export function addUpdates(program: Command): void {
  addDecisionCommand(program, "cancel <id>", {
    summary:
      "cancel a letter before it is dispatched, a batch of notices before its start, or the post that would follow a notice",
    arguments: { id: processId },
    details: `Ends with 0 on cancelled and on pending (the submit is in progress; the cancellation follows it);
with 1 on tooLate, notOwner, notPermitted, unknown, unavailable, and if the process has ended.`,
    example: "trustflow cancel order-7",
  }).action((id: string, { updateId, json, ...stated }: DecisionOptions) =>
    send(id, ["cancel", "cancellation"], { json }, ["cancelled", "pending"], (handle) =>
      handle.cancel(updateId, stated).catch(saysAlreadyCancelled(handle.workflowId)),
    ),
  );

  addUpdateCommand(program, "request-affidavit <id>", {
    summary: "request an affidavit on demand from the provider",
    arguments: { id: processId },
    details: `For a batch, --notice says of which notice: its id, as "trustflow recipients" shows it. Its affidavits are in the batch's archive
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
    .action((id: string, { json, updateId, ...asked }: UpdateOptions & { notice: string }) =>
      send(
        id,
        ["requestAffidavit", "request for an affidavit"],
        { json },
        ["requested"],
        (handle) => handle.requestAffidavit(asked, updateId),
      ),
    );

  addUpdateCommand(program, "otp <id> [code]", {
    summary: "submit the holder's one-time code",
    arguments: {
      id: processId,
      code: "the code; without it, or with -, it is asked for or read from stdin",
    },
    details: `Without CODE, or with -, the command asks for the code on a terminal and does not show it; otherwise it reads one line of stdin.
A CODE on the command line is visible to other users of this machine (ps), and the shell's history keeps it.
Ends with 0 if the code was accepted, with 1 on wrong, expired, locked, unavailable, unknown.`,
    example: "trustflow otp order-7\ntrustflow otp issueCertificate/order-7 - --json < code.txt",
  }).action((id: string, code = "-", options: UpdateOptions) => {
    const isEntered = code === "-";
    if (!isEntered && !options.json)
      noteVisible("The code", "leave it out: the command asks for it");
    return send(id, ["submitOtp", "code"], options, ["accepted"], async (handle) => {
      const given = isEntered ? await enteredCode(handle.workflowId) : code;
      return handle.submitOtp(given, options.updateId);
    });
  });

  addUpdateCommand(program, "resend-otp <id>", {
    summary: "send the holder a new one-time code",
    arguments: { id: processId },
    details: `Ends with 0 if the code was sent, with 1 on tooSoon, limitReached, refused, expired, unavailable, unknown.`,
    example: "trustflow resend-otp order-7",
  }).action((id: string, options: UpdateOptions) =>
    send(id, ["resendOtp", "code"], options, ["sent"], (handle) =>
      handle.resendOtp(options.updateId),
    ),
  );

  addUpdateCommand(program, "await-otp <id>", {
    summary: "wait at most 15 seconds until the holder's first one-time code is sent",
    arguments: { id: processId },
    details: `It sends no code. Ends with 0 if a code was sent, with 1 on notYet, notAwaited.`,
    example: "trustflow await-otp order-7",
  }).action((id: string, options: UpdateOptions) =>
    send(id, ["awaitOtp", "code"], options, ["sent"], (handle) =>
      handle.awaitOtp(options.updateId),
    ),
  );

  addUpdateCommand(program, "assertion <id>", {
    summary: "submit a new eID assertion after a rejection",
    arguments: { id: processId },
    details: `The file holds the assertion in base64, or its JSON document. Ends with 0 on accepted and on pending
(received, but not answered in time), with 1 on expired, invalid, notAwaited.`,
    example: "trustflow assertion order-7 --file assertion.json",
  })
    .requiredOption("--file <file>", "file with the assertion, or - for stdin")
    .action(async (id: string, { file, ...options }: UpdateOptions & { file: string }) => {
      const assertion = await readAssertion(file);
      const expected = ["accepted", "pending"];
      await send(id, ["provideAssertion", "assertion"], options, expected, (handle) =>
        handle.provideAssertion(assertion, options.updateId),
      );
    });

  addDecisionCommand(program, "accept-contract <id>", {
    summary: "accept or refuse the contract of a signature",
    arguments: { id: processId },
    details: `Only for a process with requireContractAccepted; the contract is one of the process's documents.
Ends with 0 on accepted and refused, with 1 on unavailable and if the process does not wait for it.`,
    example: "trustflow accept-contract order-7\ntrustflow accept-contract order-7 --refuse",
  })
    .option("--refuse", "refuse the contract: the process ends")
    .action((id: string, options: DecisionOptions & { refuse?: true }) => {
      const { refuse, json, updateId, ...stated } = options;
      return send(id, ["acceptContract", "contract"], { json }, ["accepted", "refused"], (handle) =>
        handle.acceptContract(!refuse, updateId, stated),
      );
    });

  addDecisionCommand(program, "decide-video <id>", {
    summary: "approve or cancel an identity video",
    arguments: { id: processId },
    details: `Ends with 0 on approved and cancelled, with 1 on refused, unknown, unavailable, notAwaited.`,
    example: "trustflow decide-video order-7 --decision approve",
  })
    .addOption(
      new Option("--decision <decision>", "the decision")
        .choices(["approve", "cancel"])
        .makeOptionMandatory(),
    )
    .action((id: string, options: DecisionOptions & { decision: "approve" | "cancel" }) => {
      const { decision, json, updateId, ...stated } = options;
      const expected = ["approved", "cancelled"];
      return send(id, ["decideVideo", "identity video"], { json }, expected, (handle) =>
        handle.decideVideo(decision, updateId, stated),
      );
    });

  addDecisionCommand(program, "update-video <id>", {
    summary: "change the request of an identity video before it is decided",
    arguments: { id: processId },
    details: `Ends with 0 on updated, with 1 on refused, unknown, unavailable, and on notAwaited: the video is not uploaded yet, or decided.`,
    example: "trustflow update-video order-7 --fields fields.json",
  })
    .requiredOption("--fields <file>", FIELDS)
    .action(async (id: string, options: DecisionOptions & { fields: string }) => {
      const { fields: file, json, updateId, ...stated } = options;
      const fields = await readFields(file);
      await send(id, ["updateVideo", "identity video"], { json }, ["updated"], (handle) =>
        handle.updateVideo(fields, updateId, stated),
      );
    });

  addDecisionCommand(program, "reject-call <id>", {
    summary: "reject the call of an identification by video",
    arguments: { id: processId },
    details: `Ends with 0 on rejected, with 1 on notAwaited, refused, unknown, unavailable.`,
    example: "trustflow reject-call order-7\ntrustflow reject-call order-7 --fields reason.json",
  })
    .option("--fields <file>", FIELDS)
    .action(async (id: string, options: DecisionOptions & { fields?: string }) => {
      const { fields: file, json, updateId, ...stated } = options;
      const fields = file === undefined ? undefined : await readFields(file);
      await send(id, ["rejectCall", "rejection of a call"], { json }, ["rejected"], (handle) =>
        handle.rejectCall(fields, updateId, stated),
      );
    });
}

/** A command that makes a decision. The key of `keys.operator` signs the decision, if one is configured. */
function addDecisionCommand(program: Command, name: string, text: CommandText): Command {
  return addUpdateCommand(program, name, text)
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

async function readFields(file: string): Promise<Record<string, unknown>> {
  return jsonObject(await readText(file, "--fields"), "--fields", file);
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
