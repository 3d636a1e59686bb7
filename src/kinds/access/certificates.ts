/** CertificateSigningRequests. Rights on them are in `admission/certificateAdmission.ts`. */

import { requestFault } from '../../apimachinery/certificates/certificateRequest.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { has, list, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { repeated } from '../checks.ts'
import { carryOver, type Strategies, withStatus } from '../kind.ts'
import { atMost, STATUSES, when } from '../shapes.ts'
import type { Strategy } from '../strategy.ts'
import { certificateParts } from './certificateParts.ts'
import { signerName } from './signerNames.ts'

const SHORTEST_SECONDS = 600
/** In characters, as it is sent. Requests for servers of a hundred names have some kilobytes. */
export const LONGEST_REQUEST = 32 * 1024
/** There are not that many. */
export const MOST_USAGES = 100
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown'
const DECISIONS = ['Approved', 'Denied', 'Failed']
const USAGES = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment'],
  ...['decipher only', 'digital signature', 'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel'],
  ...['ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing', 's/mime'],
  ...['server auth', 'signing', 'timestamping'],
]

const signingRequests: Strategy = withStatus({
  noGeneration: true,
  nameRule: 'pathSegment',
  prepareForUpdate: (object, old) => carryOver(object, old, 'spec'),
  validate(object, old) {
    if (old !== undefined) return []
    const spec = record(object, 'spec')
    const excess = [
      ...when(str(spec, 'request').length > LONGEST_REQUEST, () => fieldError.tooLong('spec.request', LONGEST_REQUEST)),
      ...atMost(list(spec, 'usages'), MOST_USAGES, 'spec.usages'),
    ]
    // it is not read to be shown once more
    if (excess.length > 0) return excess
    const usages = strings(spec, 'usages')
    const signer = str(spec, 'signerName')
    const fault = requestFault(Buffer.from(str(spec, 'request'), 'base64'))
    const legacy = 'the legacy signerName is not allowed via this API version'
    return [
      ...(fault === undefined ? [] : [fieldError.invalid('spec.request', spec.request ?? null, fault)]),
      ...when(list(spec, 'usages').length === 0, () => fieldError.required('spec.usages', 'usages must be provided')),
      ...usages.flatMap((usage, i) =>
        when(!USAGES.includes(usage), () => fieldError.notSupported(`spec.usages[${i}]`, usage, USAGES)),
      ),
      ...repeated(usages, i => `spec.usages[${i}]`),
      ...(signer === ''
        ? [fieldError.required('spec.signerName', 'signerName must be provided')]
        : signer === LEGACY_SIGNER
          ? [fieldError.invalid('spec.signerName', signer, legacy)]
          : signerName(signer, 'spec.signerName')),
      ...when(has(spec, 'expirationSeconds') && num(spec, 'expirationSeconds') < SHORTEST_SECONDS, () =>
        fieldError.invalid(
          'spec.expirationSeconds',
          num(spec, 'expirationSeconds'),
          'may not specify a duration less than 600 seconds (10 minutes)',
        ),
      ),
    ]
  },
  validateStatusUpdate(object, old) {
    const before = records(old, 'status', 'conditions')
    const conditions = records(object, 'status', 'conditions')
    const doubled = new Set(before.map(({ type }) => type)).size < before.length
    return [
      ...conditions.flatMap((condition, i) => validateCondition(condition, `status.conditions[${i}]`)),
      ...(doubled
        ? []
        : repeated(
            conditions.map(condition => str(condition, 'type')),
            i => `status.conditions[${i}].type`,
          )),
      ...validateCertificate(str(object, 'status', 'certificate'), str(old, 'status', 'certificate')),
    ]
  },
  subresources: certificateParts((object, old) => signingRequests.validateStatusUpdate?.(object, old) ?? []),
  selectableFields: object => ({ 'spec.signerName': str(object, 'spec', 'signerName') }),
})

export const certificateStrategies: Strategies = { 'certificates.k8s.io/certificatesigningrequests': signingRequests }

/** That decisions stay decided is for admission to see to. */
function validateCondition(condition: unknown, path: string): FieldError[] {
  if (!isRecord(condition)) return []
  const [type, status] = [str(condition, 'type'), str(condition, 'status')]
  const errors = when(type === '', () => fieldError.required(`${path}.type`))
  if (status === '') return [...errors, fieldError.required(`${path}.status`)]
  if (DECISIONS.includes(type)) return errors
  return [
    ...errors,
    ...when(!STATUSES.includes(status), () => fieldError.notSupported(`${path}.status`, status, STATUSES)),
  ]
}

function validateCertificate(encoded: string, before: string): FieldError[] {
  if (encoded === before) return []
  const field = 'status.certificate'
  if (before !== '') {
    return [fieldError.forbidden(field, 'updates may not modify existing certificate content')]
  }
  const invalid = (detail: string): FieldError[] => [fieldError.invalid(field, '<certificate data>', detail)]
  const pem = Buffer.from(encoded, 'base64').toString('latin1')
  const types = [...pem.matchAll(/^-----BEGIN ([^-\n]+)-----/gm)].map(([, type]) => type)
  const other = types.find(type => type !== 'CERTIFICATE')
  if (other !== undefined) return invalid(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(other)}`)
  return types.length === 0 ? invalid('must contain at least one CERTIFICATE PEM block') : []
}
