/** Bodies of HTTP messages as the audit log shows them: decoded, whatever they travelled in. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { PROTOBUF_MEDIA_TYPE } from '../../apimachinery/protobuf/protobufCodec.ts'
import { parseBody } from '../endpoints/body.ts'
import type { Services } from '../endpoints/exchange.ts'

/** `undefined` for no body, and for one that nobody could read: the answer to such a request says so. */
export function decodedBody(services: Services, body: unknown, contentType: unknown): unknown {
  const raw = typeof body === 'string' ? Buffer.from(body) : body
  if (!Buffer.isBuffer(raw) || raw.length === 0) return undefined
  const type = typeof contentType === 'string' ? contentType : undefined
  try {
    return type?.startsWith(PROTOBUF_MEDIA_TYPE) ? services.protobuf.decode(raw) : parseBody(raw, type)
  } catch (error) {
    if (isStatusError(error)) return undefined
    throw error
  }
}
