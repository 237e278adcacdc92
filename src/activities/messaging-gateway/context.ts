// What the activity of the messaging gateway works with.
import type { MessagingGatewayAccount } from "../../providers/messaging-gateway/client.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "messaging-gateway";

export type MessagingDependencies = ProviderDependencies<MessagingGatewayAccount>;

export class MessagingContext extends ProviderContext<typeof provider, MessagingDependencies> {}
