/** `kubectl kubestellar tree`, `pods` and `events`: what clusters made for one object of a workload space, and what happened to it. */
import { num, str } from '../../../../apimachinery/fields.ts'
import { groupResourceName } from '../../../../apimachinery/object.ts'
import { systemClock } from '../../../../client/clock.ts'
import { age } from '../../../../kinds/printers/duration.ts'
import { podPrinter } from '../../../../kinds/printers/pods.ts'
import { eventTime, isEvents } from '../../../../placement/associated/associated.ts'
import {
  ANSWERS_VERSION,
  type Cell,
  type Colour,
  type Format,
  printAnswer,
  type TextOptions,
  table,
} from '../../../shell/output.ts'
import type { Terminal } from '../../../shell/terminal.ts'
import { type AnswerOptions, withSpace } from '../answerSession.ts'
import {
  type AssociatedAnswer,
  type AssociatedCluster,
  type AssociatedObject,
  associatedObjects,
} from './associatedObjects.ts'

interface Options extends AnswerOptions {
  cluster?: string
  output?: Format
}

type Row = readonly (Cell | string)[]

export async function treeCommand(options: Options, terminal: Terminal, ...args: string[]): Promise<void> {
  const answer = await ask(options, terminal, args, kind => !isEvents(kind))
  const rows = answer.clusters.flatMap(cluster => [
    [{ text: silenceOf(cluster), colour: 'bold' as const }, '', ''],
    ...treeOf(answer, cluster),
  ])
  await print(answer, [['NAME', 'HEALTH', 'MESSAGE'], ...rows], options, terminal)
}

export async function podsCommand(options: Options, terminal: Terminal, ...args: string[]): Promise<void> {
  const answer = await ask(options, terminal, args, kind => groupResourceName(kind) === 'pods')
  const now = new Date(systemClock.now())
  const cells = ['Ready', 'Status', 'Restarts'].map(name => podPrinter.columns.find(column => column.name === name)!)
  const rows = everyObject(answer).map(([cluster, { object, account }]) => [
    silenceOf(cluster),
    object.metadata.name ?? '',
    ...cells.map(column => ({ text: String(column.cell(object, now)), colour: colourOf(account.health) })),
    age(account.created, now),
    str(object, 'spec', 'nodeName'),
  ])
  const head = ['LOCATION', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'NODE']
  await print(answer, [head, ...rows], options, terminal)
}

export async function eventsCommand(options: Options, terminal: Terminal, ...args: string[]): Promise<void> {
  const answer = await ask(options, terminal, args, isEvents)
  const now = new Date(systemClock.now())
  const events = everyObject(answer).toSorted(([, a], [, b]) => (eventTime(a.object) < eventTime(b.object) ? -1 : 1))
  const rows = events.map(([cluster, { object }]) => [
    silenceOf(cluster),
    age(eventTime(object), now),
    { text: str(object, 'type'), colour: str(object, 'type') === 'Warning' ? ('warn' as const) : undefined },
    str(object, 'reason'),
    `${str(object, 'involvedObject', 'kind').toLowerCase()}/${str(object, 'involvedObject', 'name')}`,
    String(num(object, 'series', 'count') || num(object, 'count') || 1),
    str(object, 'message').split('\n', 1)[0] ?? '',
  ])
  const head = ['LOCATION', 'LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'COUNT', 'MESSAGE']
  await print(answer, [head, ...rows], options, terminal)
}

async function ask(
  options: Options,
  terminal: Terminal,
  args: readonly string[],
  isMeant: NonNullable<Parameters<typeof associatedObjects>[2]['isMeant']>,
): Promise<AssociatedAnswer> {
  const answer = await withSpace(options, terminal, scope =>
    associatedObjects(scope, args, { cluster: options.cluster, isMeant }),
  )
  for (const why of answer.unknown) terminal.err(`Warning: ${why}`)
  return answer
}

/** @param rows the head first */
async function print(
  answer: AssociatedAnswer,
  [head, ...rows]: [readonly string[], ...Row[]],
  { output }: Options,
  terminal: Terminal,
): Promise<void> {
  if (rows.length === 0 && output === undefined) return terminal.err('None are reported.')
  const forms = { document: documentOf(answer), text: ({ paint }: TextOptions) => table(head, rows, paint) }
  const names = () =>
    everyObject(answer).map(
      ([{ location }, { object }]) => `${location}/${object.kind.toLowerCase()}/${object.metadata.name}`,
    )
  await printAnswer({ ...forms, names }, output, terminal)
}

function documentOf(answer: AssociatedAnswer): object {
  const { resource, namespace, name } = answer
  const clusters = answer.clusters.map(({ location, silentSince, health, objects }) => ({
    location,
    ...(silentSince !== undefined && { silentSince }),
    ...health,
    objects: objects.map(({ object, account: { root: _root, ...account } }) => ({
      kind: object.kind,
      name: object.metadata.name,
      ...account,
      ...(object.kind === 'Event' && { reason: object.reason, message: object.message, lastSeen: eventTime(object) }),
    })),
  }))
  const { group, resource: plural, kind } = resource
  const object = { group, resource: plural, kind, ...(namespace !== '' && { namespace }), name }
  return { apiVersion: ANSWERS_VERSION, kind: 'AssociatedObjects', object, clusters }
}

function everyObject({ clusters }: AssociatedAnswer): [AssociatedCluster, AssociatedObject][] {
  return clusters.flatMap(cluster =>
    cluster.objects.map(one => [cluster, one] as [AssociatedCluster, AssociatedObject]),
  )
}

function silenceOf({ location, silentSince }: AssociatedCluster): string {
  return silentSince === undefined ? location : `${location} (silent since ${silentSince})`
}

/** Owners above what they own. An object whose owner is not reported stands below the placed one. */
export function treeOf({ resource, name }: AssociatedAnswer, { health, objects }: AssociatedCluster): Row[] {
  const reported = new Set(objects.map(({ account }) => account.uid))
  const below = (uid: string): AssociatedObject[] =>
    objects.filter(({ account }) => account.owners.some(owner => owner.uid === uid))
  const top = objects.filter(({ account }) => !account.owners.some(owner => reported.has(owner.uid)))
  const rows: Row[] = [
    [
      `└─ ${resource.kind}/${name}`,
      { text: health?.health ?? '', colour: colourOf(health?.health) },
      health?.message ?? '',
    ],
  ]
  const shown = new Set<string>()
  const add = (siblings: readonly AssociatedObject[], indent: string): void => {
    for (const [i, { object, account }] of siblings.entries()) {
      if (shown.has(account.uid)) continue
      shown.add(account.uid)
      const isLast = i === siblings.length - 1
      rows.push([
        `${indent}${isLast ? '└─' : '├─'} ${object.kind}/${object.metadata.name}`,
        { text: account.health ?? '', colour: colourOf(account.health) },
        account.message ?? '',
      ])
      add(below(account.uid), `${indent}${isLast ? '   ' : '│  '}`)
    }
  }
  add(top, '   ')
  // a cluster may report owners in a ring
  for (const one of objects) if (!shown.has(one.account.uid)) add([one], '   ')
  return rows
}

function colourOf(health: string | undefined): Colour | undefined {
  if (health === undefined || health === 'Healthy') return undefined
  return health === 'Degraded' ? 'bad' : 'warn'
}
