/** Rules of the volume sources that need more than a line: iSCSI, projections, claims made for a pod, secrets. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, isEmpty, num, record, records, str } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain } from '../../apimachinery/names.ts'
import { validateAnnotations, validateLabels } from '../../apimachinery/objectMeta.ts'
import { signerName } from '../access/signerNames.ts'
import { optionalSelector, required, requiredName } from '../checks.ts'
import { downwardItem } from '../pods/fieldReferences.ts'
import { fileMode, ownPath } from '../pods/filePaths.ts'
import { validateClaimSpec } from './claimValidation.ts'

/** Context of the volume around a source. */
export interface VolumeContext {
  /** Path of the volume, such as `spec.volumes[0]`; for a PersistentVolume it is `spec`. */
  path: string
  name: string
  /** Empty in templates and PersistentVolumes. */
  podName: string
  isPod: boolean
  /** Whether it is the spec of a PersistentVolume. */
  persistent: boolean
}

const ISCSI_NAMES: Readonly<Record<string, (value: string) => boolean>> = {
  iqn: isQualifiedName,
  eui: value => /^eui.[A-Za-z0-9]{16}$/.test(value),
  naa: value => /^naa.[A-Za-z0-9]{32}$/.test(value),
}

const FOREIGN = /[,;*&$|\s]/
const BEGINNING = /iqn\.\d{4}-\d{2}\.[A-Za-z0-9-.]/

/**
 * `/iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$/`, as upstream has it. That begins anywhere: tried from everywhere, a long text of
 * many beginnings takes hours. Only the text before each colon is matched, from its last other sign on.
 */
function isQualifiedName(value: string): boolean {
  const parts = value.split(':')
  for (let i = parts.length - 1; i > 0 && !FOREIGN.test(parts[i]!); i--) {
    if (i === parts.length - 1 && parts[i] === '') continue
    if (BEGINNING.test(parts[i - 1]!.split(/[^A-Za-z0-9-.]/).at(-1)!)) return true
  }
  return false
}

export function iscsi(source: Fields, path: string, { name, persistent, path: volume }: VolumeContext): FieldError[] {
  const portal = str(source, 'targetPortal')
  const errors = required(source, path, 'targetPortal')
  const tooLong = has(source, 'initiatorName') && Buffer.byteLength(`${name}:${portal}`) > 64
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
  if (tooLong && persistent) errors.push(fieldError.invalid(`${path}.targetportal`, portal, detail))
  if (str(source, 'iqn') === '') errors.push(fieldError.required(`${path}.iqn`))
  else errors.push(...iscsiName(str(source, 'iqn'), `${path}.iqn`, persistent))
  errors.push(...lunRange(source, path))
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && !has(source, 'secretRef')) {
    errors.push(fieldError.required(`${path}.secretRef`))
  }
  if (persistent && has(source, 'secretRef')) {
    errors.push(...required(record(source, 'secretRef'), `${path}.secretRef`, 'name'))
  }
  if (has(source, 'initiatorName')) {
    errors.push(...iscsiName(str(source, 'initiatorName'), `${path}.initiatorname`, persistent))
  }
  if (tooLong && !persistent) errors.push(fieldError.invalid(`${volume}.name`, name, detail))
  return errors
}

export function lunRange(source: Fields, path: string): FieldError[] {
  const lun = num(source, 'lun')
  return lun < 0 || lun > 255 ? [fieldError.invalid(`${path}.lun`, lun, 'must be between 0 and 255, inclusive')] : []
}

function iscsiName(value: string, field: string, persistent: boolean): FieldError[] {
  const shape = ISCSI_NAMES[value.slice(0, 3)]
  if (shape?.(value)) return []
  const start = shape === undefined && !persistent ? ' starting with iqn, eui, or naa' : ''
  return [fieldError.invalid(field, value, `must be valid format${start}`)]
}

/** `items` of Secrets and ConfigMaps. */
export function secretItems(source: Fields, path: string): FieldError[] {
  return records(source, 'items').flatMap((item, i) => {
    const here = `${path}.items[${i}]`
    return [
      ...required(item, here, 'key'),
      ...required(item, here, 'path'),
      ...ownPath(str(item, 'path'), `${here}.path`),
      ...fileMode(item, here, 'mode'),
    ]
  })
}

/** A Secret anywhere in the cluster. */
export function secretReference(reference: Fields, path: string): FieldError[] {
  return [
    ...requiredName(str(reference, 'name'), `${path}.name`, dns1123Subdomain),
    ...requiredName(str(reference, 'namespace'), `${path}.namespace`, dns1123Label),
  ]
}

export function csiDriverName(name: string, field: string): FieldError[] {
  const errors = name === '' ? [fieldError.required(field)] : []
  if (Buffer.byteLength(name) > 63) errors.push(fieldError.tooLong(field, 63))
  return [...errors, ...dns1123Subdomain(name.toLowerCase()).map(detail => fieldError.invalid(field, name, detail))]
}

export function ephemeralClaim(
  source: Fields,
  path: string,
  { path: volume, name, podName }: VolumeContext,
): FieldError[] {
  const here = `${path}.volumeClaimTemplate`
  if (!has(source, 'volumeClaimTemplate')) return [fieldError.required(here)]
  const template = record(source, 'volumeClaimTemplate')
  const meta = record(template, 'metadata')
  const errors = [
    ...validateAnnotations(record(meta, 'annotations') as Record<string, string>, `${here}.metadata.annotations`),
    ...validateLabels(record(meta, 'labels') as Record<string, string>, `${here}.metadata.labels`),
    ...Object.keys(meta)
      .filter(field => field !== 'annotations' && field !== 'labels' && !isEmpty(meta[field]))
      .map(field => fieldError.forbidden(`${here}.metadata.${field}`, 'cannot be set')),
    ...validateClaimSpec(record(template, 'spec'), `${here}.spec`),
  ]
  if (podName === '' || name === '') return errors
  const claim = `${podName}-${name}`
  const details = dns1123Subdomain(claim).map(message => `PVC name ${JSON.stringify(claim)}: ${message}`)
  return [...errors, ...details.map(detail => fieldError.invalid(`${volume}.name`, name, detail))]
}

const PROJECTIONS = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
]

export function projected(source: Fields, path: string): FieldError[] {
  const errors = fileMode(source, path, 'defaultMode')
  const taken = new Set<string>()
  /** Reported for the whole volume, as upstream does. */
  const claim = (file: string, shown: string): void => {
    if (file !== '' && taken.has(file)) errors.push(fieldError.invalid(path, shown, 'conflicting duplicate paths'))
    taken.add(file)
  }
  for (const [i, projection] of records(source, 'sources').entries()) {
    const at = `${path}.sources[${i}]`
    for (const kind of ['secret', 'configMap']) {
      if (!has(projection, kind)) continue
      const one = record(projection, kind)
      errors.push(...required(one, `${at}.${kind}`, 'name'), ...secretItems(one, `${at}.${kind}`))
      for (const item of records(one, 'items')) claim(str(item, 'path'), str(one, 'name'))
    }
    for (const item of records(projection, 'downwardAPI', 'items')) {
      errors.push(...downwardItem(item, `${at}.downwardAPI`))
      claim(str(item, 'path'), str(item, 'path'))
    }
    if (has(projection, 'serviceAccountToken')) {
      errors.push(...tokenProjection(record(projection, 'serviceAccountToken'), `${at}.serviceAccountToken`, path))
    }
    if (has(projection, 'clusterTrustBundle')) {
      const bundle = record(projection, 'clusterTrustBundle')
      errors.push(...trustBundle(bundle, `${at}.clusterTrustBundle`))
      claim(str(bundle, 'path'), str(bundle, 'path'))
    }
    if (has(projection, 'podCertificate')) {
      const certificate = record(projection, 'podCertificate')
      errors.push(...podCertificate(certificate, `${at}.podCertificate`))
      for (const member of CERTIFICATE_PATHS) claim(str(certificate, member), str(certificate, member))
    }
    if (PROJECTIONS.filter(kind => has(projection, kind)).length > 1) {
      errors.push(fieldError.forbidden(at, 'may not specify more than 1 volume type per source'))
    }
  }
  return errors
}

/** The path of the file is reported at the volume, without an index. */
function tokenProjection(token: Fields, path: string, volume: string): FieldError[] {
  const errors: FieldError[] = []
  const field = `${path}.expirationSeconds`
  const seconds = num(token, 'expirationSeconds')
  if (seconds < 600) errors.push(fieldError.invalid(field, seconds, 'may not specify a duration less than 10 minutes'))
  if (seconds > 2 ** 32) {
    errors.push(fieldError.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  if (str(token, 'path') === '') return [...errors, fieldError.required(`${volume}.path`)]
  return [...errors, ...ownPath(str(token, 'path'), `${volume}.path`)]
}

function trustBundle(bundle: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  const [byName, bySigner] = [has(bundle, 'name'), has(bundle, 'signerName')]
  if (byName && bySigner) errors.push(fieldError.invalid(path, bundle, 'only one of name and signerName may be used'))
  else if (byName) {
    const name = str(bundle, 'name')
    if (name === '') errors.push(fieldError.required(`${path}.name`, 'must be a valid object name'))
    const messages = dns1123Subdomain(name.includes(':') ? name.slice(name.lastIndexOf(':') + 1) : name)
    for (const message of messages) {
      errors.push(fieldError.invalid(`${path}.name`, name, `not a valid clustertrustbundlename: ${message}`))
    }
    if (has(bundle, 'labelSelector')) {
      const detail = 'labelSelector must be unset if name is specified'
      errors.push(fieldError.invalid(`${path}.labelSelector`, bundle.labelSelector, detail))
    }
  } else if (bySigner) {
    const field = `${path}.signerName`
    if (str(bundle, 'signerName') === '') errors.push(fieldError.required(field, 'must be a valid signer name'))
    errors.push(...signerName(str(bundle, 'signerName'), field))
    errors.push(...optionalSelector(bundle.labelSelector, `${path}.labelSelector`))
  } else errors.push(fieldError.required(path, 'either name or signerName must be specified'))
  return [...errors, ...required(bundle, path, 'path'), ...ownPath(str(bundle, 'path'), `${path}.path`)]
}

const CERTIFICATE_PATHS = ['credentialBundlePath', 'keyPath', 'certificateChainPath']
const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']
const HOUR = 3600

function podCertificate(certificate: Fields, path: string): FieldError[] {
  const errors = signerName(str(certificate, 'signerName'), `${path}.signerName`)
  const type = str(certificate, 'keyType')
  if (!KEY_TYPES.includes(type)) errors.push(fieldError.notSupported(`${path}.keyType`, type, KEY_TYPES))
  const seconds = num(certificate, 'maxExpirationSeconds')
  if (has(certificate, 'maxExpirationSeconds')) {
    const field = `${path}.maxExpirationSeconds`
    if (seconds < HOUR) {
      errors.push(fieldError.invalid(field, seconds, `if provided, maxExpirationSeconds must be >= ${HOUR}`))
    } else if (seconds > 91 * 24 * HOUR) {
      errors.push(fieldError.invalid(field, seconds, `if provided, maxExpirationSeconds must be <= ${91 * 24 * HOUR}`))
    }
  }
  const paths = CERTIFICATE_PATHS.filter(member => str(certificate, member) !== '')
  if (paths.length === 0) {
    const detail = 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'
    errors.push(fieldError.required(path, detail))
  }
  return [...errors, ...paths.flatMap(member => ownPath(str(certificate, member), `${path}.${member}`))]
}
