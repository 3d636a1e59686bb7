/** Volumes and claims that are written inside of other objects: they are judged as those that stand alone. */
import { post, type Rest, type Script, type Step, unlikeWords } from '../script.ts'
import { of, SELECTOR, TEMPLATE } from './bodies.ts'

const attached = (inlineVolumeSpec: object): Step =>
  post(
    '/apis/storage.k8s.io/v1/volumeattachments?dryRun=All',
    of('storage.k8s.io/v1', 'VolumeAttachment', 'a', {
      spec: { attacher: 'a.b', nodeName: 'n', source: { inlineVolumeSpec } },
    }),
    { unlike120: { '?body.message': 'ReadWriteOncePod', '?body.details.causes': 'ReadWriteOncePod' } },
  )
const CSI = { csi: { driver: 'a.b', volumeHandle: 'h' } }
const ONCE = { accessModes: ['ReadWriteOnce'] }
const NFS = { nfs: { server: 's', path: '/' } }

const LATE: Rest = { since: '1.35: claim templates are looked at' }
const set = (claims: readonly object[], more: object = {}, rest: Rest = LATE): Step =>
  post(
    '/apis/apps/v1/namespaces/{ns}/statefulsets?dryRun=All',
    of('apps/v1', 'StatefulSet', 's', {
      spec: { selector: SELECTOR, template: TEMPLATE, volumeClaimTemplates: claims, ...more },
    }),
    rest,
  )
const claim = (spec: object): object => ({ metadata: { name: 'data' }, spec })
const SIZE = { resources: { requests: { storage: '1Gi' } } }

export const inlineVolumes: Script = {
  name: 'inline-volumes',
  steps: [
    attached({ ...CSI, ...ONCE }),
    attached({ iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2015-01.a:b', lun: 1 }, ...CSI, ...ONCE }),
    attached({}),
    attached({ nfs: {} }),
    attached({ ...NFS, ...ONCE }),
    attached({ ...NFS, capacity: { storage: '-1' } }),
    attached({ ...CSI, ...NFS, ...ONCE }),
    attached({ csi: { driver: 'a.b' }, accessModes: ['X'], volumeMode: 'Q' }),
    attached({ ...CSI, ...ONCE, capacity: { storage: '1Gi' }, persistentVolumeReclaimPolicy: 'Delete' }),
    attached({ ...CSI, ...ONCE, persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' }),
    attached({ ...CSI, ...ONCE, nodeAffinity: {}, claimRef: { name: 'c' }, storageClassName: 'a' }),
    attached({ ...CSI, ...ONCE, volumeMode: 'Block' }),
    set([claim({ ...ONCE, ...SIZE })], {}, {}),
    set([claim({})]),
    set([claim({ ...ONCE, ...SIZE }), claim({ ...ONCE, ...SIZE })], {}, {}),
    set([claim({ ...ONCE, ...SIZE }), claim({ accessModes: ['X'], resources: { requests: { storage: '-1' } } })]),
    set(
      [claim({ ...ONCE, ...SIZE, storageClassName: 'A_', volumeMode: 'Q' })],
      { replicas: -1 },
      unlikeWords('1.35: claim templates are looked at'),
    ),
    set([], { serviceName: 'A_b' }, { since: '1.33: the name is looked at' }),
  ],
}
