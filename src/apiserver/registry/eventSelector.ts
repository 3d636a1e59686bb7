/** Changes of one kind as a watcher with a selection sees them: only selectors make objects parse. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Stored, StoreEvent } from '../../storage/store.ts'
import { atRevision } from '../../storage/texts.ts'
import type { ParsedCache } from './codec.ts'
import type { Selection } from './selection.ts'
import { objectFor, prepareViews, viewBytes } from './views.ts'

/** One change as a watcher with a selection sees it: leaving the selection is a deletion, entering it a creation. */
export interface SelectedEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  stored: Stored
  event: StoreEvent
}

export class EventSelector {
  readonly #parsed: ParsedCache
  readonly #type: ResourceType
  readonly #selection: Selection

  constructor(parsed: ParsedCache, type: ResourceType, selection: Selection) {
    this.#parsed = parsed
    this.#type = type
    this.#selection = selection
  }

  /** Selected events of a batch of a kind that no webhook converts. */
  all(events: readonly StoreEvent[]): SelectedEvent[] {
    const selected: SelectedEvent[] = []
    for (const event of events) {
      const one = this.#select(event)
      if (one) selected.push(one)
    }
    return selected
  }

  /** The same for kinds that a webhook converts. @throws StatusError of the conversion */
  async converted(events: readonly StoreEvent[]): Promise<SelectedEvent[]> {
    await prepareViews(this.#lookedAt(events), this.#type)
    const selected = this.all(events)
    // the last selected state of what left the selection is one that nobody has seen
    const shown = selected.map(({ stored }) => stored)
    if (shown.length > 0) await prepareViews(shown, this.#type)
    return selected
  }

  #select(event: StoreEvent): SelectedEvent | undefined {
    const selection = this.#selection
    const created = event.previous === undefined
    if (selection.everything) {
      return { type: event.type === 'delete' ? 'DELETED' : created ? 'ADDED' : 'MODIFIED', stored: event.stored, event }
    }
    const before = event.previous !== undefined && this.#matches(event.previous)
    if (event.type === 'delete') return before ? { type: 'DELETED', stored: event.stored, event } : undefined
    const now = this.#matches(event.stored)
    if (now) return { type: before ? 'MODIFIED' : 'ADDED', stored: event.stored, event }
    // It left the selection: its last selected state, at the revision of the change.
    return before ? { type: 'DELETED', stored: atRevision(event.previous!, event.revision), event } : undefined
  }

  #matches(stored: Stored): boolean {
    return this.#selection.matches(shownAs(stored, this.#type, version => this.#parsed.get(version)))
  }

  /** All versions of objects that selecting looks at. */
  #lookedAt(events: readonly StoreEvent[]): Stored[] {
    return events.flatMap(({ stored, previous }) =>
      this.#selection.everything || previous === undefined ? [stored] : [stored, previous],
    )
  }
}

/** The object as the version of the request has it; read-only. */
export function shownAs(
  stored: Stored,
  type: ResourceType,
  parse: (stored: Stored) => Readonly<KubeObject>,
): Readonly<KubeObject> {
  if (!type.custom || viewBytes(stored, type) === stored.bytes) return parse(stored)
  return objectFor(stored, type)
}
