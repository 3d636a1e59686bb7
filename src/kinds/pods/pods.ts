/** Pods: defaults and status at creation, what may change later, and what field selectors see. */
import { record, str } from '../../apimachinery/fields.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { defaultPod, qosClass } from './podDefaults.ts'
import { podEphemeral } from './podEphemeral.ts'
import { podResize } from './podResize.ts'
import { completePodStatus, preparePodStatus, validatePodStatus } from './podStatus.ts'
import { validateNewPod, validatePodUpdate } from './podUpdate.ts'
import { validatePod, validatePodProfiles } from './podValidation.ts'
import { podWarnings } from './podWarnings.ts'

const pods = withStatus({
  applyDefaults(pod) {
    defaultPod(pod)
    completePodStatus(record(pod, 'status'))
  },
  prepareForCreate(pod) {
    pod.status = { phase: 'Pending', qosClass: qosClass(record(pod, 'spec')) }
  },
  validate: (pod, old) => [
    ...validatePod(pod),
    ...(old === undefined ? [...validateNewPod(pod), ...validatePodProfiles(pod)] : []),
  ],
  // who updates a pod is a program
  warnings: (pod, old) => (old === undefined ? podWarnings(pod) : []),
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatus,
  // elder kubelets spoil them
  statusKeeps: ['ownerReferences'],
  subresources: {
    ephemeralcontainers: podEphemeral,
    resize: podResize,
    status: { prepareForUpdate: preparePodStatus },
  },
  selectableFields: pod => ({
    'spec.nodeName': str(pod, 'spec', 'nodeName'),
    'spec.restartPolicy': str(pod, 'spec', 'restartPolicy'),
    'spec.schedulerName': str(pod, 'spec', 'schedulerName'),
    'spec.serviceAccountName': str(pod, 'spec', 'serviceAccountName'),
    'spec.hostNetwork': String(record(pod, 'spec').hostNetwork === true),
    'status.phase': str(pod, 'status', 'phase'),
    'status.podIP': str(pod, 'status', 'podIP'),
    'status.nominatedNodeName': str(pod, 'status', 'nominatedNodeName'),
  }),
})

export const podStrategies: Strategies = { '/pods': pods }
