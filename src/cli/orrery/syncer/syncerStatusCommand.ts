/** `orrery syncer status`: asks the syncers on this machine how they are, and says it in words. */
import { text } from 'node:stream/consumers'
import { at, num, record, str } from '../../../apimachinery/fields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { type Host, printFound } from '../host.ts'
import { DEFAULT_PORTS, healthAddress } from './syncerHealth.ts'

const PATIENCE_MS = 5000

const plain = process.getBuiltinModule('node:http')

/** Exit code 0 when all that answer are ready, 1 when one is not. @throws Error when nobody answers, or none of that name */
export async function syncerStatus(settings: Record<string, unknown>, host: Host): Promise<number> {
  const { healthAddress: address, syncTargetName: name } = settings as Record<string, string | undefined>
  const found = await foundAt(address)
  const statuses = name === undefined ? found : found.filter(status => str(status, 'syncTarget') === name)
  if (statuses.length === 0) {
    const names = found.map(status => str(status, 'syncTarget') || 'one without a name').sort()
    throw new Error(
      names.length === 0
        ? 'no syncer answers on this machine'
        : `no syncer of SyncTarget ${JSON.stringify(name)} answers on this machine; there are: ${names.join(', ')}`,
    )
  }
  const documents = statuses.map(status => ({ kind: 'SyncerStatus', ...record(status) }))
  const lines = statuses.flatMap((status, i) => [...(i > 0 ? [''] : []), ...statusLines(status)])
  const [only, ...others] = documents
  const document = only && others.length === 0 ? only : { kind: 'SyncerStatusList', items: documents }
  await printFound(settings, lines, document, host)
  return statuses.every(status => at(status, 'ready') === true) ? 0 : 1
}

/** Without an address: of all that listen where no address was given. @throws Error when nobody answers */
async function foundAt(address: string | undefined): Promise<unknown[]> {
  const { host, port } = healthAddress(address)
  const asking = Array.from({ length: address === undefined ? DEFAULT_PORTS : 1 }, (_, next) =>
    statusAt(host === '::' ? '127.0.0.1' : host, port + next),
  )
  const answers = await Promise.allSettled(asking)
  const found = answers.flatMap(answer => (answer.status === 'fulfilled' ? [answer.value] : []))
  if (found.length === 0) await asking[0]
  return found.filter(status => typeof at(status, 'ready') === 'boolean')
}

/** One fact a line. */
export function statusLines(status: unknown): string[] {
  const { down = 0, status: statuses = 0, up = 0 } = record(status, 'waiting') as Record<string, number>
  const exceptions = Object.entries(record(status, 'exceptions')).map(([state, count]) => `${count} ${state}`)
  const revision = num(status, 'heard')
  const rows: [string, string][] = [
    ['State', `${str(status, 'state') || 'starting'}${at(status, 'ready') === true ? '' : ', not ready'}`],
    ['Center', LINK_STATES[str(status, 'center')] ?? 'not asked yet'],
    ['Protocol', num(status, 'protocol') === 0 ? 'not agreed yet' : String(num(status, 'protocol'))],
    ['Cluster', LINK_STATES[str(status, 'cluster')] ?? 'not asked yet'],
    ['Mailbox', mailboxOf(status, revision)],
    ['Waiting', `${down} to the cluster, ${statuses} statuses, ${up} from the cluster`],
    ['Not as it should be', exceptions.length === 0 ? 'nothing' : exceptions.join(', ')],
    ['Refused', String(num(status, 'refused'))],
    ['State dir', stateDirOf(at(status, 'kept'))],
    ...WHOSE.flatMap(([what, field]): [string, string][] => {
      const value = str(status, field)
      return value === '' ? [] : [[what, value]]
    }),
  ]
  return rows.map(([what, value]) => `${`${what}:`.padEnd(22)}${value}`)
}

const WHOSE = [
  ['SyncTarget', 'syncTarget'],
  ['Center address', 'centerServer'],
  ['Cluster address', 'clusterServer'],
] as const

const LINK_STATES: Readonly<Record<string, string>> = {
  up: 'answers',
  refused: "refuses the syncer's credential",
  unsupported: 'has no protocol in common with a syncer of this release; see its log',
  unreachable: 'cannot be reached',
}

function mailboxOf(status: unknown, revision: number): string {
  if (at(status, 'known') !== true) return 'not known yet'
  const objects = `${num(status, 'objects')} objects`
  if (at(status, 'complete') !== true) return `${objects}, as of an earlier run`
  return revision === 0 ? objects : `${objects}, known up to revision ${revision}`
}

function stateDirOf(kept: unknown): string {
  if (kept === undefined) return 'none'
  return kept === true ? 'holds what it knows' : 'takes nothing; see its log'
}

async function statusAt(host: string, port: number): Promise<unknown> {
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      const request = plain.get({ host, port, path: '/status', timeout: PATIENCE_MS }, response =>
        text(response).then(resolve, reject),
      )
      request.on('timeout', () => request.destroy(new Error('no answer')))
      request.on('error', reject)
    })
    return JSON.parse(answer)
  } catch (error) {
    throw new Error(
      `no syncer reports its state at ${host}:${port} (${messageOf(error)}): is it running, with this --health-address?`,
      { cause: error },
    )
  }
}
