/**
 * Bodies of a kind that is none of the URL's. Upstream decodes a body's own kind, whatever it is, and fails when it shall become the
 * requested one.
 */
import { statusError } from '../../../apimachinery/errors.ts'
import { isRecord, parseApiVersion } from '../../../apimachinery/object.ts'
import { FORMS } from '../../registry/forms.ts'
import type { Exchange, Services } from '../exchange.ts'

/** Groups whose kinds upstream registers apart from all others. */
const APART: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io'])
/** Where upstream registers the others. */
const SCHEME = 'k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30'

/**
 * For kinds of upstream's schemes. Bodies without a kind, and other versions of the kind, are left to `objectOf`.
 * @param wanted default: the kind of the URL
 * @throws StatusError BadRequest
 */
export function requireKind(
  services: Services,
  exchange: Exchange,
  body: unknown,
  wanted?: { group: string; kind: string },
): void {
  const want = wanted ?? exchange.type
  if (!isRecord(body) || typeof body.apiVersion !== 'string' || typeof body.kind !== 'string') return
  const { apiVersion, kind } = body
  const given = parseApiVersion(apiVersion)
  if (kind === want.kind || kind === '' || apiVersion === '' || given === undefined) return
  if (!FORMS[exchange.type.form].inScheme || APART.has(want.group)) return
  const isKnown = !APART.has(given.group) && services.protobuf.supports(apiVersion, kind)
  const why = isKnown
    ? `converting (${given.version}.${kind}) to (${packageOf(want.group)}.${want.kind}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(SCHEME)}`
  throw statusError.badRequest(
    `${kind} in version ${JSON.stringify(given.version)} cannot be handled as a ${want.kind}: ${why}`,
  )
}

function packageOf(group: string): string {
  return group === '' ? 'core' : group.split('.')[0]!
}
