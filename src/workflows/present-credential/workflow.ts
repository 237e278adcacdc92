// Presents a wallet credential: makes operator, credential template, verification template and presentation service, then starts the flow
// (P1 §4.6).
import type {
  PresentCredentialInput,
  PresentCredentialResult,
} from "../../contracts/present-credential/contract.js";
import { SetUp, operator, template } from "../shared/wallet-set-up.js";

const VERIFICATION_STEP = "createVerificationTemplate";
const SERVICE_STEP = "createPresentationService";
const INIT_STEP = "initPresentation";

export async function presentCredential(
  input: PresentCredentialInput,
): Promise<PresentCredentialResult> {
  const steps = [template.name, VERIFICATION_STEP, SERVICE_STEP, INIT_STEP];
  const setUp = new SetUp(input, [operator.name, ...steps]);

  return setUp.run("presentCredential", async () => {
    await setUp.prepare((wallet, mode) => wallet.preparePresentation({ input, mode }));
    const operatorId = input.operator && (await setUp.make(input.operator, operator));
    const templateId = input.template && (await setUp.make(input.template, template));
    const verificationTemplateId =
      input.verificationTemplate &&
      (await setUp.make(input.verificationTemplate, {
        name: VERIFICATION_STEP,
        id: "verificationTemplateId",
        what: "the verification template",
        // The contract wants a template for each verification template that is created.
        create: (wallet, call) =>
          wallet.createVerificationTemplate({ ...call, templateId: templateId ?? "" }),
      }));
    const verificationServiceId = await setUp.make(input.service, {
      name: SERVICE_STEP,
      id: "verificationServiceId",
      what: "the presentation service",
      isInPath: true,
      create: (wallet, call) =>
        wallet.createPresentationService({
          ...call,
          operatorIds: idsOf(operatorId, input.alsoLinked?.operatorIds),
          verificationTemplateIds: idsOf(
            verificationTemplateId,
            input.alsoLinked?.verificationTemplateIds,
          ),
        }),
    });
    await setUp.init(INIT_STEP, (wallet, call) =>
      wallet.initPresentation({ ...call, verificationServiceId }),
    );
  });
}

/** Each once, the process's own one first. */
function idsOf(first: string | undefined, others: readonly string[] = []): string[] {
  return [...new Set([...(first === undefined ? [] : [first]), ...others])];
}
