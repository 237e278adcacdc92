// A communication as the simulated postal provider keeps it.
import type { EviItem } from "../evi/item.js";
import type { PostalAddress } from "./address-check.js";
import type { AffidavitMoment } from "./lifecycle.js";
import type { PostalState } from "./lifecycle.js";
import type { PostalMagic } from "./magic.js";
import type { AffidavitProfile, ServiceType } from "./options-check.js";

export interface PostItem extends EviItem<PostalState, AffidavitMoment> {
  modifiers: PostalMagic["modifiers"];
  service: ServiceType;
  profile: AffidavitProfile;
  isOnDemandEnabled: boolean;
  documentSha256: string;
  recipientName?: string;
  recipient: string;
  sender: string;
  address: PostalAddress;
  costCentre?: string;
  processedAt?: number;
  sentAt?: number;
}
