/** The spec of a PersistentVolumeClaim, also where a pod or a StatefulSet has claims made for it. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, record, str } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain } from '../../apimachinery/names.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { invalidBy, optionalSelector, required } from '../checks.ts'
import { positiveQuantity } from '../pods/resources.ts'
import { choice } from '../shapes.ts'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const VOLUME_MODES = ['Block', 'Filesystem']

export interface ClaimOptions {
  /** The stored claim names a group that is none: it may stay. */
  anyGroup?: boolean
}

export function validateClaimSpec(spec: Fields, path: string, options: ClaimOptions = {}): FieldError[] {
  const errors: FieldError[] = []
  if (list(spec, 'accessModes').length === 0) {
    errors.push(fieldError.required(`${path}.accessModes`, 'at least 1 access mode is required'))
  }
  errors.push(...optionalSelector(spec.selector, `${path}.selector`), ...accessModes(spec, path))
  const requests = record(spec, 'resources', 'requests')
  const storage = `${path}.resources[storage]`
  if (!has(requests, 'storage')) errors.push(fieldError.required(storage))
  else errors.push(...positiveQuantity(requests.storage, storage))
  errors.push(
    ...className(spec, path, 'storageClassName'),
    ...choice(spec, 'volumeMode', `${path}.volumeMode`, VOLUME_MODES),
  )
  for (const member of ['dataSource', 'dataSourceRef']) {
    if (has(spec, member)) errors.push(...dataSource(record(spec, member), `${path}.${member}`, options))
  }
  return [...errors, ...sourcesAgree(spec, path), ...className(spec, path, 'volumeAttributesClassName')]
}

/** The modes that are set; their absence is reported elsewhere. */
export function accessModes(spec: Fields, path: string): FieldError[] {
  const modes = list(spec, 'accessModes').map(String)
  const field = `${path}.accessModes`
  const known = modes.filter(mode => ACCESS_MODES.includes(mode))
  const errors = modes
    .filter(mode => !known.includes(mode))
    .map(mode => fieldError.notSupported(field, mode, ACCESS_MODES))
  if (known.includes('ReadWriteOncePod') && known.some(mode => mode !== 'ReadWriteOncePod')) {
    errors.push(fieldError.forbidden(field, 'may not use ReadWriteOncePod with other access modes'))
  }
  return errors
}

/** The name of a class; empty means none. */
export function className(spec: Fields, path: string, member: string): FieldError[] {
  const name = str(spec, member)
  return name === '' ? [] : invalidBy(dns1123Subdomain, name, `${path}.${member}`)
}

function dataSource(source: Fields, path: string, { anyGroup = false }: ClaimOptions): FieldError[] {
  const errors = [...required(source, path, 'name'), ...required(source, path, 'kind')]
  const [group, namespace] = [str(source, 'apiGroup'), str(source, 'namespace')]
  if (group === '' && source.kind !== 'PersistentVolumeClaim') {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
    errors.push(fieldError.invalid(path, str(source, 'kind'), detail))
  }
  if (group !== '' && !anyGroup) errors.push(...invalidBy(dns1123Subdomain, group, `${path}.apiGroup`))
  if (namespace !== '') errors.push(...invalidBy(dns1123Label, namespace, `${path}.namespace`))
  return errors
}

/** The elder field is the same reference, as long as it stays in the namespace. */
function sourcesAgree(spec: Fields, path: string): FieldError[] {
  if (!has(spec, 'dataSource') || !has(spec, 'dataSourceRef')) return []
  const wrong = (detail: string): FieldError[] => [fieldError.invalid(path, `${path}.dataSource`, detail)]
  if (str(spec, 'dataSourceRef', 'namespace') !== '') {
    return wrong('may not be specified when dataSourceRef.namespace is specified')
  }
  const same = ['apiGroup', 'kind', 'name'].every(member =>
    sameMeaning(record(spec, 'dataSource')[member], record(spec, 'dataSourceRef')[member]),
  )
  return same ? [] : wrong('must match dataSourceRef')
}
