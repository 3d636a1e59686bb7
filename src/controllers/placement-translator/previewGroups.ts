/**
 * What a preview finds, gathered: clusters where the same becomes of an object are one group. Contents are shown without
 * bookkeeping, values of Secrets as hashes with a key of this preview alone, so that they can be compared and not guessed. Pure.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { leftFieldsOf, withoutFields } from '../../apimachinery/leftFields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import {
  IMPLIED_ANNOTATION,
  LEFT_FIELDS_ANNOTATION,
  OWNER_ANNOTATION,
  OWNER_REFERENCES_ANNOTATION,
  PROJECTED_FROM_ANNOTATION,
  PROJECTED_KEYS_ANNOTATION,
  PROJECTED_LABEL,
} from '../../apimachinery/placement.ts'
import {
  MAX_GROUP_LOCATIONS,
  MAX_PREVIEW_CONTENT_BYTES,
  type PreviewAction,
  type PreviewGroup,
  type PreviewLocation,
} from '../../apimachinery/placementPreview.ts'
import type { Told } from './allowance.ts'
import { CARRIER_MARKS } from './names.ts'
import type { Destination } from './ways.ts'

interface Content {
  readonly before?: KubeObject | undefined
  readonly after?: KubeObject | undefined
}

export interface Finding {
  add(action: PreviewAction, way: Destination, told?: Told, content?: Content): void
  groups(): PreviewGroup[]
}

interface Gathered extends Omit<PreviewGroup, 'locations' | 'count'> {
  count: number
  locations: PreviewLocation[]
}

/** Groups with contents of one object; in more, clusters differ so much that nobody reads it. */
const MAX_SHOWN = 50
const BOOKKEEPING: ReadonlySet<string> = new Set([
  PROJECTED_KEYS_ANNOTATION,
  PROJECTED_FROM_ANNOTATION,
  OWNER_ANNOTATION,
  OWNER_REFERENCES_ANNOTATION,
  IMPLIED_ANNOTATION,
  LEFT_FIELDS_ANNOTATION,
  'kubectl.kubernetes.io/last-applied-configuration',
  ...CARRIER_MARKS,
])
const NO_ROOM = 'what would change is too much to be shown here; ask about fewer objects'

/** Of all objects of a preview. */
export class PreviewGroups {
  readonly #key = randomBytes(32)
  #bytesLeft = MAX_PREVIEW_CONTENT_BYTES

  begin({ kind, apiVersion }: KubeObject): Finding {
    const isSecret = kind === 'Secret' && apiVersion === 'v1'
    const found = new Map<string, Gathered>()
    return {
      add: (action, { cluster, locationName }, told, content = {}) => {
        const { before, after } = changedIn(content)
        const shown = { before: before && this.#shown(before, isSecret), after: after && this.#shown(after, isSecret) }
        // only our bookkeeping differs
        const is =
          action === 'Update' && shown.before !== undefined && shown.before === shown.after ? 'Unchanged' : action
        const said = is === 'Unchanged' ? [] : [shown.before ?? null, shown.after ?? null]
        // not the content itself: there may be thousands of them
        const id = createHash('sha256')
          .update(JSON.stringify([is, told?.message, ...said]))
          .digest('base64')
        let group = found.get(id)
        if (!group) {
          group = {
            action: is,
            count: 0,
            locations: [],
            ...told,
            ...(is !== 'Unchanged' && this.#content(shown, found.size)),
          }
          found.set(id, group)
        }
        group.count++
        if (group.locations.length < MAX_GROUP_LOCATIONS) group.locations.push({ cluster, name: locationName })
      },
      groups: () => [...found.values()].map(group => ({ ...group, locations: group.locations.sort(byName) })),
    }
  }

  #content({ before, after }: { before: string | undefined; after: string | undefined }, others: number): object {
    const bytes = (before?.length ?? 0) + (after?.length ?? 0)
    if (bytes === 0) return {}
    if (bytes > this.#bytesLeft || others >= MAX_SHOWN) return { message: NO_ROOM }
    this.#bytesLeft -= bytes
    return { ...(before && { before: JSON.parse(before) }), ...(after && { after: JSON.parse(after) }) }
  }

  #shown(object: KubeObject, isSecret: boolean): string {
    const { apiVersion, kind, metadata, status: _, ...fields } = object
    const { name, namespace, labels = {}, annotations = {} } = metadata
    const kept = {
      name,
      ...(namespace !== undefined && { namespace }),
      ...nonEmpty(
        'labels',
        without(labels, key => key === PROJECTED_LABEL),
      ),
      ...nonEmpty(
        'annotations',
        without(annotations, key => BOOKKEEPING.has(key) || /(^|\.)kcp\.io\//.test(key)),
      ),
    }
    return JSON.stringify({ apiVersion, kind, metadata: kept, ...(isSecret ? this.#hashed(fields) : fields) })
  }

  #hashed(fields: Record<string, unknown>): Record<string, unknown> {
    const hash = (value: unknown): string =>
      `hash:${createHmac('sha256', this.#key).update(JSON.stringify(value)).digest('hex').slice(0, 16)}`
    const hidden = Object.entries(fields).map(([field, value]): [string, unknown] => {
      if (field !== 'data' && field !== 'stringData') return [field, value]
      return [
        field,
        isRecord(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, hash(v)])) : hash(value),
      ]
    })
    return Object.fromEntries(hidden)
  }
}

/** Of what is there, what is left to its cluster stays as it is there, and is not shown. */
function changedIn({ before, after }: Content): Content {
  const left = after ? leftFieldsOf(after) : []
  if (before === undefined || after === undefined || left.length === 0) return { before, after }
  return { before: withoutFields(before, left), after: withoutFields(after, left) }
}

function nonEmpty(field: string, value: Record<string, string>): object {
  return Object.keys(value).length > 0 ? { [field]: sorted(value) } : {}
}

function without(value: Readonly<Record<string, string>>, drops: (key: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !drops(key)))
}

function sorted(value: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function byName(a: PreviewLocation, b: PreviewLocation): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.cluster < b.cluster ? -1 : 1
}
