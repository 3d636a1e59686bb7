/** Messages about conflicts name the owner by the id of its space; whoever may see that space reads its path. */
import type { Client } from '../../../client/client.ts'
import { pathOfId } from '../../shell/session/session.ts'

const OWNER = /\bspace ([a-z0-9]{8,40}) owns it/g
/** Bound on the spaces whose paths are read. */
const MOST = 10

/** @param answer what JSON can say */
export async function namingOwners<T>(answer: T, client: Client): Promise<T> {
  const text = JSON.stringify(answer)
  const ids = [...new Set([...text.matchAll(OWNER)].map(([, id]) => id!))].slice(0, MOST)
  if (ids.length === 0) return answer
  const paths = new Map<string, string>()
  for (const id of ids) paths.set(id, await pathOfId(client, id))
  return JSON.parse(text.replaceAll(OWNER, (_, id: string) => `space ${paths.get(id) ?? id} owns it`))
}
