/**
 * A large stored object out of its text, but for the spec that is known already. A report on an object, a mark for its end or a release
 * writes all of its text anew. It changes only a few hundred bytes before and behind the spec.
 *
 * In canonical text (codec.ts) a quote inside of a JSON string has a backslash before it. So a comma, then the name in quotes, then
 * a colon is a member of something; only that of the whole object ends with it.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { Stored } from '../../storage/store.ts'
import { metadataOfLong } from './decodeInSteps.ts'

const STATUS = ',"status":'
/** A longer one is parsed with the rest. */
const STATUS_BYTES = 64 * 1024

/** Members of that name inside of the status, or of a spec that no status follows. */
const TRIES = 4

/**
 * Shares the spec of `before`, an earlier version, and has no managedFields. `undefined` where all has to be parsed: it is not
 * large, or the spec may be another.
 */
export function decodeBesideSpec(stored: Stored, before: Readonly<KubeObject>): KubeObject | undefined {
  const { uid, generation } = before.metadata
  if (uid === undefined || generation === undefined) return undefined
  const metadata = metadataOfLong(stored)
  if (metadata === undefined || metadata.uid !== uid || metadata.generation !== generation) return undefined
  const status = statusAtEnd(stored.bytes)
  return status && { ...before, metadata, status }
}

/** End of the text, if it is the status. */
function statusAtEnd(bytes: Buffer): Record<string, unknown> | undefined {
  const end = bytes.subarray(-STATUS_BYTES)
  let at = end.length
  for (let tries = 0; tries < TRIES && at > 0; tries++) {
    at = end.lastIndexOf(STATUS, at - 1)
    if (at < 0) return undefined
    const { status, ...others } = membersOf(`{${end.toString('utf8', at + 1)}`) ?? {}
    if (isRecord(status)) return Object.keys(others).length === 0 ? status : undefined
  }
  return undefined
}

/** `undefined`: it is no JSON, because it began deeper inside. */
function membersOf(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return isRecord(parsed) ? parsed : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
