/**
 * `inlineVolumeSpec` of a VolumeAttachment: the spec of a PersistentVolume that exists nowhere else, so most of it means
 * nothing there.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/volume-attachment-v1/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, record, str } from '../../apimachinery/fields.ts'
import { canonicalQuantities } from '../checks.ts'
import { defaultVolumeSource } from '../pods/podDefaults.ts'
import { when } from '../shapes.ts'
import { accessModes } from './claimValidation.ts'
import { volumeSource } from './volumeSources.ts'
import { attributesClassOfVolume } from './volumes.ts'

export function defaultInlineVolume(spec: Fields): void {
  canonicalQuantities(spec.capacity)
  defaultVolumeSource(spec)
}

export function validateInlineVolume(spec: Fields, path: string): FieldError[] {
  const out = (field: string, rule = 'may not be specified'): FieldError =>
    fieldError.forbidden(`${path}.${field}`, `${rule} in the context of inline volumes`)
  const policy = str(spec, 'persistentVolumeReclaimPolicy')
  return [
    ...when(has(spec, 'claimRef'), () => out('claimRef')),
    ...when(Object.keys(record(spec, 'capacity')).length > 0, () => out('capacity')),
    ...when(!has(spec, 'csi'), () =>
      fieldError.required(`${path}.csi`, 'has to be specified in the context of inline volumes'),
    ),
    ...when(list(spec, 'accessModes').length === 0, () => fieldError.required(`${path}.accessModes`)),
    ...accessModes(spec, path),
    ...when(policy !== '' && policy !== 'Retain', () => out('persistentVolumeReclaimPolicy', 'may only be Retain')),
    ...when(has(spec, 'nodeAffinity'), () => out('nodeAffinity')),
    ...volumeSource(spec, { path, name: '', podName: '', isPod: false, persistent: true }),
    ...when(str(spec, 'storageClassName') !== '', () => out('storageClassName')),
    ...when(has(spec, 'volumeMode') && spec.volumeMode !== 'Filesystem', () =>
      out('volumeMode', 'may not specify volumeMode other than Filesystem'),
    ),
    ...attributesClassOfVolume(spec, path),
  ]
}
