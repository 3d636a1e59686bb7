/**
 * Content negotiation: which form of an object or list the client wants.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
 */
import { StatusError } from '../../apimachinery/errors.ts'

export interface Form {
  format: 'json' | 'yaml'
  /** `undefined`: the object as it is. */
  as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** Version of meta.k8s.io. */
  version: 'v1' | 'v1beta1'
}

const PLAIN: Form = { format: 'json', as: undefined, version: 'v1' }
const MEDIA_TYPES = ['application/json', 'application/yaml']

/** The first acceptable entry wins, by the client's order. @throws StatusError NotAcceptable */
export function negotiate(accept: string | undefined): Form {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return PLAIN
  for (const entry of accept.split(',')) {
    const [media = '', ...parameters] = entry.split(';').map(part => part.trim())
    const format = formatOf(media.toLowerCase())
    if (format === undefined) continue
    const options = new Map(parameters.map(p => [p.slice(0, p.indexOf('=')), p.slice(p.indexOf('=') + 1)]))
    const as = options.get('as')
    if (as === undefined) return { ...PLAIN, format }
    const version = options.get('v')
    if (options.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue
    if (as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')
      return { format, as, version }
  }
  throw notAcceptable(MEDIA_TYPES)
}

export function notAcceptable(accepted: readonly string[]): StatusError {
  return new StatusError('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}

function formatOf(media: string): Form['format'] | undefined {
  if (media === 'application/json' || media === '*/*' || media === 'application/*') return 'json'
  return media === 'application/yaml' ? 'yaml' : undefined
}

/** Agents behind which a person reads the bare answer. */
const READERS = /^(curl|Wget|Mozilla\/5\.0)/

/** Whether JSON is indented: as `pretty` says, else for browsers and command-line HTTP tools, as upstream. */
export function wantsPretty(query: URLSearchParams, agent: string | undefined): boolean {
  const said = query.get('pretty')
  if (said !== null && said !== '') return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(said)
  return agent !== undefined && READERS.test(agent)
}
