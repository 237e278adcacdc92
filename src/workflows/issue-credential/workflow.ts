// Issues a wallet credential: makes operator, credential template and issuance service, then starts the flow (P1 §4.6).
import type {
  IssueCredentialInput,
  IssueCredentialResult,
} from "../../contracts/issue-credential/contract.js";
import { SetUp, operator, template } from "../shared/wallet-set-up.js";

const SERVICE_STEP = "createIssuanceService";
const INIT_STEP = "initIssuance";

export async function issueCredential(input: IssueCredentialInput): Promise<IssueCredentialResult> {
  const setUp = new SetUp(input, [operator.name, template.name, SERVICE_STEP, INIT_STEP]);

  return setUp.run("issueCredential", async () => {
    await setUp.prepare((wallet, mode) => wallet.prepareIssuance({ input, mode }));
    if (input.operator) await setUp.make(input.operator, operator);
    const templateId = input.template && (await setUp.make(input.template, template));
    const issuanceServiceId = await setUp.make(input.service, {
      name: SERVICE_STEP,
      id: "issuanceServiceId",
      what: "the issuance service",
      isInPath: true,
      // The contract wants a template for each service that is created.
      create: (wallet, call) =>
        wallet.createIssuanceService({ ...call, templateId: templateId ?? "" }),
    });
    await setUp.init(INIT_STEP, (wallet, call) =>
      wallet.initIssuance({ ...call, issuanceServiceId }),
    );
  });
}
