/** `env` and `envFrom` of containers. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, record, records, str } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain } from '../../apimachinery/names.ts'
import { configKey, invalidBy, requiredName } from '../checks.ts'
import { fieldReference, IN_ENVIRONMENT, resourceReference } from './fieldReferences.ts'
import { ownPath } from './filePaths.ts'
import type { PodScope } from './podScope.ts'

/** Printable ASCII but `=`. */
function environmentName(value: string): string[] {
  if (/^[ -<>-~]+$/.test(value)) return []
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}

/** @param path the container's */
export function validateEnvironment(container: Fields, path: string, scope: PodScope): FieldError[] {
  return [
    ...records(container, 'env').flatMap((variable, i) => validateVariable(variable, `${path}.env[${i}]`, scope)),
    ...records(container, 'envFrom').flatMap((source, i) => validateVariables(source, `${path}.envFrom`, i)),
  ]
}

const VALUE_SOURCES: Readonly<Record<string, (source: Fields, path: string, scope: PodScope) => FieldError[]>> = {
  fieldRef: (source, path) => fieldReference(source, path, IN_ENVIRONMENT),
  resourceFieldRef: (source, path) => resourceReference(source, path, false),
  configMapKeyRef: keyReference,
  secretKeyRef: keyReference,
  fileKeyRef: fileReference,
}

function validateVariable(variable: Fields, path: string, scope: PodScope): FieldError[] {
  const errors = requiredName(str(variable, 'name'), `${path}.name`, environmentName)
  if (!has(variable, 'valueFrom')) return errors
  const source = record(variable, 'valueFrom')
  const here = `${path}.valueFrom`
  const used = Object.keys(VALUE_SOURCES).filter(name => has(source, name))
  errors.push(...used.flatMap(name => VALUE_SOURCES[name]!(record(source, name), `${here}.${name}`, scope)))
  if (used.length === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    errors.push(fieldError.invalid(here, '', detail))
  } else if (str(variable, 'value') !== '') {
    errors.push(fieldError.invalid(here, '', 'may not be specified when `value` is not empty'))
  } else if (used.length > 1) {
    errors.push(fieldError.invalid(here, '', 'may not have more than one field specified at a time'))
  }
  return errors
}

function keyReference(reference: Fields, path: string): FieldError[] {
  return [
    ...invalidBy(dns1123Subdomain, str(reference, 'name'), `${path}.name`),
    ...requiredName(str(reference, 'key'), `${path}.key`, configKey),
  ]
}

/** A variable in a file that another container wrote into an emptyDir. */
function fileReference(reference: Fields, path: string, { volumes }: PodScope): FieldError[] {
  const volume = str(reference, 'volumeName')
  const file = str(reference, 'path')
  const errors = [
    ...requiredName(str(reference, 'key'), `${path}.key`, environmentName),
    ...requiredName(volume, `${path}.volumeName`, dns1123Label),
    ...(file === '' ? [fieldError.required(`${path}.path`)] : ownPath(file, `${path}.path`)),
  ]
  if (errors.length > 0) return errors
  if (!volumes.has(volume)) return [fieldError.notFound(`${path}.volumeName`, volume)]
  if (has(volumes.get(volume), 'emptyDir')) return []
  return [fieldError.invalid(`${path}.volumeName`, volume, 'referenced volume must be of type emptyDir')]
}

/** Errors about the choice of source are, as upstream's, on the whole list. */
function validateVariables(source: Fields, whole: string, index: number): FieldError[] {
  const path = `${whole}[${index}]`
  const errors: FieldError[] = []
  if (str(source, 'prefix') !== '') errors.push(...invalidBy(environmentName, str(source, 'prefix'), `${path}.prefix`))
  const used = ['configMapRef', 'secretRef'].filter(name => has(source, name))
  for (const name of used) errors.push(...requiredName(str(source, name, 'name'), `${path}.${name}.name`, prefixName))
  if (used.length === 0) {
    errors.push(fieldError.invalid(whole, '', 'must specify one of: `configMapRef` or `secretRef`'))
  } else if (used.length > 1) {
    errors.push(fieldError.invalid(whole, '', 'may not have more than one field specified at a time'))
  }
  return errors
}

/** A name as if more were to follow: the last character may be a dash. */
const prefixName = (value: string): string[] => dns1123Subdomain(value.replace(/-$/, 'a'))
