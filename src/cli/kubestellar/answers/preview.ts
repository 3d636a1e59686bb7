/** What a PlacementPreview answered, for people and programs. Pure but for the diff of texts. */
import { createTwoFilesPatch } from 'diff'
import { stringify } from 'yaml'
import { list, num, objects, str, strings } from '../../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { nameOfObject } from './askedObject.ts'
import type { Place, Places } from './destinations.ts'
import { ANSWERS_VERSION } from './version.ts'

export interface GroupAnswer {
  readonly action: string
  /** How many clusters. */
  readonly count: number
  /** Some of them. */
  readonly locations: readonly Place[]
  readonly before?: unknown
  readonly after?: unknown
  readonly reason?: string
  readonly message?: string
}

export interface ObjectAnswer {
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly operation: string
  readonly placements: readonly string[]
  readonly message?: string
  readonly groups: readonly GroupAnswer[]
}

export interface PreviewAnswer {
  readonly apiVersion: string
  readonly kind: 'Preview'
  /** Whether anything would change in a cluster. */
  readonly changes: boolean
  /** Clusters by action, over all objects. */
  readonly counts: Readonly<Record<string, number>>
  readonly objects: readonly ObjectAnswer[]
}

const CHANGES: ReadonlySet<string> = new Set(['Create', 'Update', 'Delete'])

/** @param told `status.objects` of the answers, in order */
export function readPreview(told: readonly Record<string, unknown>[], places: Places): PreviewAnswer {
  const answers = told.map((one): ObjectAnswer => {
    const namespace = str(one, 'namespace')
    const message = str(one, 'message')
    return {
      group: str(one, 'group'),
      resource: str(one, 'resource'),
      kind: str(one, 'kind'),
      ...(namespace !== '' && { namespace }),
      name: str(one, 'name'),
      operation: str(one, 'operation'),
      placements: strings(one, 'placements'),
      ...(message !== '' && { message }),
      groups: objects(one, 'groups').map(group => readGroup(group, places)),
    }
  })
  const counts: Record<string, number> = {}
  for (const { action, count } of answers.flatMap(({ groups }) => groups))
    counts[action] = (counts[action] ?? 0) + count
  const changes = Object.keys(counts).some(action => CHANGES.has(action))
  return { apiVersion: ANSWERS_VERSION, kind: 'Preview', changes, counts, objects: answers }
}

/** @param sentences about EdgePlacements, by name: each is a change */
export function withSentences(answer: PreviewAnswer, sentences: ReadonlyMap<string, string>): PreviewAnswer {
  if (sentences.size === 0) return answer
  const told = answer.objects.map(object => {
    const sentence = object.kind === 'EdgePlacement' ? sentences.get(object.name) : undefined
    if (sentence === undefined) return object
    return { ...object, message: object.message === undefined ? sentence : `${object.message}; ${sentence}` }
  })
  return { ...answer, changes: true, objects: told }
}

function readGroup(group: Record<string, unknown>, places: Places): GroupAnswer {
  const [reason, message] = [str(group, 'reason'), str(group, 'message')]
  return {
    action: str(group, 'action'),
    count: num(group, 'count'),
    locations: list(group, 'locations').map(one => places.of(str(one, 'cluster'), str(one, 'name'))),
    ...(isRecord(group.before) && { before: group.before }),
    ...(isRecord(group.after) && { after: group.after }),
    ...(reason !== '' && { reason }),
    ...(message !== '' && { message }),
  }
}

export function changesSomething({ groups }: ObjectAnswer): boolean {
  return groups.some(({ action }) => CHANGES.has(action))
}

export function titleOf({ group, resource, namespace = '', name }: ObjectAnswer): string {
  return nameOfObject({ group, resource }, namespace, name)
}

const LINES = 3
/** Lines that may be removed and added before a text is shown as replaced as a whole: time grows with its square. */
const MAX_EDITS = 1000

/** As `diff -u`, by YAML; nothing where neither side is known. */
export function diffOf({ before, after }: Pick<GroupAnswer, 'before' | 'after'>): string[] {
  if (before === undefined && after === undefined) return []
  const options = { context: LINES, maxEditLength: MAX_EDITS }
  const [from, to] = [textOf(before), textOf(after)]
  const patch: string | undefined = createTwoFilesPatch('now', 'then', from, to, '', '', options)
  const text = patch ?? wholly(from, to)
  // the first line is a rule of equal signs
  return text
    .split('\n')
    .filter((line, i) => !(i === 0 && line.startsWith('==')) && line !== '')
    .map(line => (line.startsWith('---') || line.startsWith('+++') ? line.trimEnd() : line))
}

function wholly(from: string, to: string): string {
  const each = (text: string, mark: string) =>
    text
      .trimEnd()
      .split('\n')
      .map(line => `${mark}${line}`)
  return ['--- now', '+++ then', ...each(from, '-'), ...each(to, '+')].join('\n')
}

function textOf(value: unknown): string {
  return value === undefined ? '' : stringify(value, { lineWidth: 0, sortMapEntries: true })
}

/** What may be asked in one PlacementPreview. */
export function batches(all: readonly KubeObject[], { most, bytes }: { most: number; bytes: number }): KubeObject[][] {
  const found: KubeObject[][] = []
  let left = 0
  for (const object of all) {
    const size = Buffer.byteLength(JSON.stringify(object)) + 1
    const last = found.at(-1)
    if (last && last.length < most && size <= left) last.push(object)
    else {
      found.push([object])
      left = bytes
    }
    left -= size
  }
  return found
}
