// What a provider keeps, as the control API shows it and the state file saves it.
export interface ItemSummary {
  provider: string;
  id: string;
  intent: string | null;
  account: string;
  state: string;
  outcome: string;
  createdAt: string;
}

export interface Kept {
  items?(): Iterable<ItemSummary>;
  item?(id: string): Record<string, unknown> | undefined;
  save(): unknown;
  load(state: never): void;
  clear(): void;
}

/** The members of a summary that an item does not have by the same name. */
type Summary = Partial<Omit<ItemSummary, "createdAt"> & { createdAt: number | string }>;

/** The items of one kind by id, and the newest one of each intent. */
export class Shelf<Item extends { account: string }> implements Kept {
  readonly #items = new Map<string, Item>();
  readonly #newest = new Map<string, Item>();
  readonly #provider: string;
  readonly #summary: (item: Item) => Summary;
  readonly #shown: (item: Item) => object;

  /** `shown`: an item without what the control API must not show. */
  constructor(
    provider: string,
    summary: (item: Item) => Summary,
    shown: (item: Item) => object = (item) => item,
  ) {
    this.#provider = provider;
    this.#summary = summary;
    this.#shown = shown;
  }

  add(item: Item): void {
    const { id, intent } = this.summary(item);
    this.#items.set(id, item);
    if (intent !== null) this.#newest.set(intent, item);
  }

  get(id: unknown): Item | undefined {
    return this.#items.get(id as string);
  }

  newestOf(intent: string): Item | undefined {
    return this.#newest.get(intent);
  }

  delete(item: Item): void {
    this.#items.delete(this.summary(item).id);
  }

  all(): Iterable<Item> {
    return this.#items.values();
  }

  summary(item: Item): ItemSummary {
    const { id, intent, account, state, outcome, createdAt } = {
      outcome: "None",
      ...item,
      ...this.#summary(item),
    } as ItemSummary;
    const provider = this.#provider;
    return { provider, id, intent, account, state, outcome, createdAt: instant(createdAt) };
  }

  view(item: Item): Record<string, unknown> {
    return { ...this.#shown(item), ...this.summary(item) };
  }

  *items(): Iterable<ItemSummary> {
    for (const item of this.all()) yield this.summary(item);
  }

  item(id: string): Record<string, unknown> | undefined {
    const item = this.get(id);
    return item && this.view(item);
  }

  save(): Item[] {
    return [...this.all()];
  }

  load(items: Item[]): void {
    this.clear();
    for (const item of items) this.add(item);
  }

  clear(): void {
    this.#items.clear();
    this.#newest.clear();
  }
}

const instant = (at: number | string) => new Date(at).toISOString();

/** Several kept together, each saved under its name; one that is not in a state stays as it is. */
export function keeping(parts: Record<string, Omit<Kept, "clear"> & Partial<Kept>>): Kept {
  const named = Object.entries(parts);
  return {
    *items() {
      for (const [, part] of named) yield* part.items?.() ?? [];
    },
    item(id) {
      for (const [, part] of named) {
        const found = part.item?.(id);
        if (found) return found;
      }
      return undefined;
    },
    save: () => Object.fromEntries(named.map(([name, part]) => [name, part.save()])),
    load(state: Record<string, unknown>) {
      for (const [name, part] of named)
        if (state[name] !== undefined) part.load(state[name] as never);
    },
    clear() {
      for (const [, part] of named) part.clear?.();
    },
  };
}
