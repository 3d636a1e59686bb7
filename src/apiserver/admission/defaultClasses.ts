/**
 * Objects without a class get the default one: claims their storage class, ingresses their ingress class. A new node starts as one that is
 * not ready.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#defaultstorageclass
 */

import { ensure, has, list, records, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Admission } from '../registry/admission.ts'
import type { ConfigurationLog } from './configurationLog.ts'

export const STORAGE_CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' }
export const INGRESS_CLASSES = { group: 'networking.k8s.io', resource: 'ingressclasses' }
const STORAGE_DEFAULT = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]
const INGRESS_DEFAULT = ['ingressclass.kubernetes.io/is-default-class']

export function defaultClasses(settings: ConfigurationLog): Admission[] {
  return [
    {
      stage: 'mutate',
      fillsIn: true,
      handles: (type, operation) =>
        operation === 'CREATE' && type.group === '' && type.resource === 'persistentvolumeclaims',
      reaches: ({ space }) => settings.has(space, STORAGE_CLASSES),
      admit({ context, object }) {
        if (has(object, 'spec', 'storageClassName')) return
        if (object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined) return
        const name = newest(settings.list(context.space, STORAGE_CLASSES), STORAGE_DEFAULT)
        if (name !== undefined) ensure(object, 'spec').storageClassName = name
      },
    },
    {
      stage: 'mutate',
      fillsIn: true,
      handles: (type, operation) =>
        operation === 'CREATE' && type.group === INGRESS_CLASSES.group && type.resource === 'ingresses',
      reaches: ({ space }) => settings.has(space, INGRESS_CLASSES),
      admit({ context, object }) {
        if (has(object, 'spec', 'ingressClassName')) return
        if (object.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return
        const name = newest(settings.list(context.space, INGRESS_CLASSES), INGRESS_DEFAULT)
        if (name !== undefined) ensure(object, 'spec').ingressClassName = name
      },
    },
    {
      stage: 'mutate',
      fillsIn: true,
      handles: (type, operation, subresource) =>
        operation === 'CREATE' && type.group === '' && type.resource === 'nodes' && subresource === '',
      admit({ object }) {
        const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
        const known = records(object, 'spec', 'taints')
        if (known.some(each => str(each, 'key') === taint.key && str(each, 'effect') === taint.effect)) return
        const spec = ensure(object, 'spec')
        spec.taints = [...list(spec, 'taints'), taint]
      },
    },
  ]
}

/** Among several defaults the newest, then the first by name. */
function newest(classes: readonly KubeObject[], annotations: readonly string[]): string | undefined {
  const defaults = classes.filter(each => annotations.some(name => each.metadata.annotations?.[name] === 'true'))
  const time = (object: KubeObject) => object.metadata.creationTimestamp ?? ''
  defaults.sort((a, b) =>
    time(a) === time(b) ? (a.metadata.name! < b.metadata.name! ? -1 : 1) : time(a) > time(b) ? -1 : 1,
  )
  return defaults[0]?.metadata.name
}
