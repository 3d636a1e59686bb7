/** The audit trail of a write by a controller inside the server: one event, when it is done. Nobody received a request. */
import { isStatusError, statusError } from '../../apimachinery/errors.ts'
import type { EmbeddedWrite, WriteTrail } from '../embedded/writeAudit.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import { AuditTrail, NO_BODIES, type TrailOptions } from './auditTrail.ts'

const NO_QUERY = new URLSearchParams()

/** `undefined` when the policy records nothing of it. */
export function writeTrail(
  write: EmbeddedWrite,
  options: Omit<TrailOptions, 'uri' | 'sourceIps' | 'userAgent' | 'isInternal'>,
): WriteTrail | undefined {
  const info = infoOf(write)
  if (options.policy.decide(info, write.user).level === 'None') return undefined
  const trail = new AuditTrail({
    ...options,
    uri: `/clusters/${write.space}${info.path}`,
    sourceIps: [],
    userAgent: undefined,
    isInternal: true,
  })
  trail.parsed(info)
  trail.identified(write.user)
  trail.located(write.space)
  trail.decided({ allowed: true, reason: '' })
  return {
    annotate: (key, value, level) => trail.annotate(key, value, level),
    done: (code, sent, result) => trail.ended(code, { request: sent, response: result }),
    failed(error) {
      const status = isStatusError(error) ? error : statusError.internal(error)
      trail.failed(status)
      trail.ended(status.code, NO_BODIES)
    },
  }
}

/** As a request over HTTP would be read. */
function infoOf({ verb, space, type, namespace, name, subresource }: EmbeddedWrite): RequestInfo {
  const { group, version, resource } = type
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespace === '' ? [] : ['namespaces', namespace]),
    resource,
    ...(verb === 'create' ? [] : [name]),
    ...(subresource === '' ? [] : [subresource]),
  ]
  return {
    space,
    stream: false,
    path: `/${parts.join('/')}`,
    query: NO_QUERY,
    verb,
    resource: { group, version, resource, subresource, namespace, name: verb === 'create' ? '' : name },
  }
}
