/** `volumeMounts` and `volumeDevices` of containers. Some errors concern the whole list, as upstream has it. */

import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, records, str } from '../../apimachinery/fields.ts'
import { repeats } from '../checks.ts'
import { choice } from '../shapes.ts'
import { descendingPath, noBacksteps } from './filePaths.ts'
import { type PodScope, securityOf } from './podScope.ts'

/** @param path the container's */
export function validateMounts(container: Fields, path: string, { volumes }: PodScope): FieldError[] {
  const errors: FieldError[] = []
  const devices = textsOf(container, 'volumeDevices', 'devicePath')
  const mounts = records(container, 'volumeMounts')
  const again = repeats(mounts.map(mount => str(mount, 'mountPath')))
  const list = `${path}.volumeMounts`
  for (const [i, mount] of mounts.entries()) {
    const here = `${list}[${i}]`
    const [name, mountPath] = [str(mount, 'name'), str(mount, 'mountPath')]
    if (name === '') errors.push(fieldError.required(`${here}.name`))
    if (!volumes.has(name)) errors.push(fieldError.notFound(`${here}.name`, name))
    if (mountPath === '') errors.push(fieldError.required(`${here}.mountPath`))
    if (again[i]) errors.push(fieldError.invalid(`${here}.mountPath`, mountPath, 'must be unique'))
    if (devices.names.has(name)) {
      errors.push(fieldError.invalid(`${here}.name`, name, 'must not already exist in volumeDevices'))
    }
    if (devices.paths.has(mountPath)) {
      const detail = 'must not already exist as a path in volumeDevices'
      errors.push(fieldError.invalid(`${here}.mountPath`, mountPath, detail))
    }
    errors.push(...subPaths(mount, here, list, volumes.get(name)), ...propagation(mount, list, container))
  }
  return errors
}

function textsOf(container: Fields, field: string, pathField: string): Record<'names' | 'paths', Set<string>> {
  const items = records(container, field)
  return { names: new Set(items.map(i => str(i, 'name'))), paths: new Set(items.map(i => str(i, pathField))) }
}

function subPaths(mount: Fields, path: string, list: string, volume: Fields | undefined): FieldError[] {
  const errors: FieldError[] = []
  const given = ['subPath', 'subPathExpr'].filter(member => str(mount, member) !== '')
  if (has(volume, 'image')) {
    const detail = 'not allowed in image volume sources'
    errors.push(...given.map(member => fieldError.invalid(`${path}.${member}`, mount[member], detail)))
  }
  for (const member of given) {
    if (member === 'subPathExpr' && given.length > 1) {
      const detail = 'subPathExpr and subPath are mutually exclusive'
      errors.push(fieldError.invalid(`${path}.subPathExpr`, mount.subPathExpr, detail))
    }
    errors.push(...descendingPath(str(mount, member), `${list}.${member}`))
  }
  return errors
}

function propagation(mount: Fields, list: string, container: Fields): FieldError[] {
  const errors = choice(mount, 'mountPropagation', `${list}.mountPropagation`, [
    'Bidirectional',
    'HostToContainer',
    'None',
  ])
  if (mount.mountPropagation === 'Bidirectional' && securityOf(container).privileged !== true) {
    const detail = 'Bidirectional mount propagation is available only to privileged containers'
    errors.push(fieldError.forbidden(`${list}.mountPropagation`, detail))
  }
  const field = `${list}.recursiveReadOnly`
  const recursive = mount.recursiveReadOnly
  if (recursive !== 'Enabled' && recursive !== 'IfPossible') {
    return [
      ...errors,
      ...choice(mount, 'recursiveReadOnly', `${list}.recursiveReadOnly`, ['Disabled', 'Enabled', 'IfPossible']),
    ]
  }
  if (mount.readOnly !== true) errors.push(fieldError.forbidden(field, 'may only be specified when readOnly is true'))
  if (has(mount, 'mountPropagation') && mount.mountPropagation !== 'None') {
    const detail = 'may only be specified when mountPropagation is None or not specified'
    errors.push(fieldError.forbidden(field, detail))
  }
  return errors
}

/** @param path the container's */
export function validateDevices(container: Fields, path: string, { volumes }: PodScope): FieldError[] {
  const errors: FieldError[] = []
  const mounts = textsOf(container, 'volumeMounts', 'mountPath')
  const [names, paths] = [new Set<string>(), new Set<string>()]
  for (const [i, device] of records(container, 'volumeDevices').entries()) {
    const here = `${path}.volumeDevices[${i}]`
    const [name, devicePath] = [str(device, 'name'), str(device, 'devicePath')]
    const volume = volumes.get(name)
    const wrong = (member: 'name' | 'devicePath', detail: string): void => {
      errors.push(fieldError.invalid(`${here}.${member}`, member === 'name' ? name : devicePath, detail))
    }
    if (name === '') errors.push(fieldError.required(`${here}.name`))
    if (names.has(name)) wrong('name', 'must be unique')
    if (volume === undefined) errors.push(fieldError.notFound(`${here}.name`, name))
    else if (!has(volume, 'persistentVolumeClaim') && !has(volume, 'ephemeral')) {
      wrong('name', 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode')
    }
    if (devicePath === '') errors.push(fieldError.required(`${here}.devicePath`))
    if (paths.has(devicePath)) wrong('devicePath', 'must be unique')
    if (noBacksteps(devicePath, '').length > 0) wrong('devicePath', "can not contain backsteps ('..')")
    else paths.add(devicePath)
    if (mounts.names.has(name)) wrong('name', 'must not already exist in volumeMounts')
    if (mounts.paths.has(devicePath)) {
      wrong('devicePath', 'must not already exist as a path in volumeMounts')
    }
    if (name !== '') names.add(name)
  }
  return errors
}
