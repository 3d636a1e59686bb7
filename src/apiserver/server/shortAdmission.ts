/** Who asks on the short way, and whether they may: as it is asked on the long way, where that is known at once. */
import type { TLSSocket } from 'node:tls'
import type { Soon } from '../../apimachinery/soon.ts'
import { isStranger } from '../auth/users.ts'
import type { FrontDoor } from '../http/frontDoor.ts'
import type { AuthorizedRequest } from '../http/pipeline.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import type { ShortRequest } from './oneByOne.ts'

/** `undefined` for strangers, too. @throws StatusError as the front door */
export function admittedNow(
  door: Pick<FrontDoor, 'admit'>,
  { socket, method, url, headers }: ShortRequest,
  info: RequestInfo,
): AuthorizedRequest | undefined {
  const raw = { method, url, headers, distinctHeaders: NO_HEADERS, socket: socket as TLSSocket }
  const authorized = known(door.admit(raw, { info }))
  return authorized === undefined || isStranger(authorized.user) ? undefined : authorized
}

/** Asked for those of who acts as somebody else alone, who does not come this way. */
const NO_HEADERS = (): Record<string, never> => ({})

/** `undefined` for what nobody knows yet. The long way asks again. */
export function known<T>(soon: Soon<T>): T | undefined {
  if (!(soon instanceof Promise)) return soon
  soon.catch(() => undefined)
  return undefined
}
