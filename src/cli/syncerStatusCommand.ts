/** `orrery syncer status`: asks the syncer on this machine how it is, and says it in words. */
import { text } from 'node:stream/consumers'
import { at, num, record, str } from '../apimachinery/fields.ts'
import { messageOf } from '../apimachinery/messageOf.ts'
import { printFound } from './printFound.ts'
import { healthAddress } from './syncerHealth.ts'

const PATIENCE_MS = 5000

const plain = process.getBuiltinModule('node:http')

/** Exit code 0 when it is ready, 1 when not. @throws Error when nobody answers */
export async function syncerStatus(settings: Record<string, unknown>): Promise<number> {
  const address = settings.healthAddress as string | undefined
  const { host, port } = healthAddress(address)
  const status = await asked(host === '::' ? '127.0.0.1' : host, port)
  await printFound(settings, statusLines(status), { kind: 'SyncerStatus', ...record(status) })
  return at(status, 'ready') === true ? 0 : 1
}

/** One fact a line. */
export function statusLines(status: unknown): string[] {
  const { down = 0, status: statuses = 0, up = 0 } = record(status, 'waiting') as Record<string, number>
  const exceptions = Object.entries(record(status, 'exceptions')).map(([state, count]) => `${count} ${state}`)
  const heard = num(status, 'heard')
  const rows: [string, string][] = [
    ['State', `${str(status, 'state') || 'starting'}${at(status, 'ready') === true ? '' : ', not ready'}`],
    ['Center', SAID[str(status, 'center')] ?? 'not asked yet'],
    ['Protocol', num(status, 'protocol') === 0 ? 'not agreed yet' : String(num(status, 'protocol'))],
    ['Cluster', SAID[str(status, 'cluster')] ?? 'not asked yet'],
    ['Mailbox', mailboxOf(status, heard)],
    ['Waiting', `${down} to the cluster, ${statuses} statuses, ${up} from the cluster`],
    ['Not as it should be', exceptions.length === 0 ? 'nothing' : exceptions.join(', ')],
    ['Refused', String(num(status, 'refused'))],
    ['State dir', stateDirOf(at(status, 'kept'))],
  ]
  return rows.map(([what, value]) => `${`${what}:`.padEnd(22)}${value}`)
}

const SAID: Readonly<Record<string, string>> = {
  up: 'answers',
  refused: "refuses the syncer's credential",
  unsupported: 'has no protocol in common with a syncer of this release; see its log',
  unreachable: 'cannot be reached',
}

function mailboxOf(status: unknown, heard: number): string {
  if (at(status, 'known') !== true) return 'not known yet'
  const objects = `${num(status, 'objects')} objects`
  if (at(status, 'complete') !== true) return `${objects}, as of an earlier run`
  return heard === 0 ? objects : `${objects}, heard up to revision ${heard}`
}

function stateDirOf(kept: unknown): string {
  if (kept === undefined) return 'none'
  return kept === true ? 'holds what it knows' : 'takes nothing; see its log'
}

async function asked(host: string, port: number): Promise<unknown> {
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
      `no syncer tells how it is at ${host}:${port} (${messageOf(error)}): is it running, with this --health-address?`,
      { cause: error },
    )
  }
}
