/** The Pod Security Standards, check by check: what each level of each version says of a pod. */
import t from 'tap'
import { evaluate, reasonsText } from '../../../../src/apiserver/admission/podSecurity/evaluate.ts'
import type { Level } from '../../../../src/apiserver/admission/podSecurity/policy.ts'
import * as fc from '../../../support/fastCheck.ts'

const LATEST = Number.POSITIVE_INFINITY
type Case = [level: Level, minor: number, pod: object, told: string[]]
/** `reason (detail)`, of the checks that are about the case. */
const told = (level: Level, minor: number, pod: object): string[] =>
  evaluate({ level, minor }, pod).map(({ reason, detail }) => `${reason} (${detail})`)
const one = (fields: object, spec: object = {}, metadata: object = {}): object => ({
  metadata,
  spec: { containers: [{ name: 'a', ...fields }], ...spec },
})
const secured = (securityContext: object, spec: object = {}): object => one({ securityContext }, spec)
const SAFE = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}
const safe = (context: object, spec: object = {}): object => secured({ ...SAFE, ...context }, spec)
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io'

const CASES: Record<string, Case> = {
  'AppArmor field': [
    'baseline',
    LATEST,
    one(
      { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
      { securityContext: { appArmorProfile: { type: 'Localhost' } } },
    ),
    ['forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")'],
  ],
  'AppArmor annotations': [
    'baseline',
    LATEST,
    one(
      {},
      {},
      {
        annotations: { [`${APP_ARMOR}/a`]: 'unconfined', [`${APP_ARMOR}/b`]: 'localhost/x', [`${APP_ARMOR}/c`]: 'odd' },
      },
    ),
    [
      'forbidden AppArmor profiles (annotations must not set AppArmor profile type to ' +
        `"${APP_ARMOR}/a="unconfined"", "${APP_ARMOR}/c="odd"")`,
    ],
  ],
  'added capabilities': [
    'baseline',
    LATEST,
    secured({ capabilities: { add: ['NET_RAW', 'CHOWN', 'BPF'] } }),
    ['non-default capabilities (container "a" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)'],
  ],
  'host ports': [
    'baseline',
    LATEST,
    {
      spec: {
        initContainers: [{ name: 'i', ports: [{ hostPort: 81 }] }],
        containers: [{ name: 'a', ports: [{ hostPort: 80 }, {}] }],
      },
    },
    ['hostPort (containers "i", "a" use hostPorts 80, 81)'],
  ],
  'hosts of probes': [
    'baseline',
    34,
    one({ livenessProbe: { httpGet: { host: 'x' } }, lifecycle: { preStop: { tcpSocket: { host: 'y' } } } }),
    ['probe or lifecycle host (container "a" uses probe or lifecycle hosts "x", "y")'],
  ],
  'hosts of probes, before': ['baseline', 33, one({ livenessProbe: { httpGet: { host: 'x' } } }), []],
  SELinux: [
    'baseline',
    30,
    one(
      { securityContext: { seLinuxOptions: { type: 'container_engine_t' } } },
      { securityContext: { seLinuxOptions: { user: 'u' } } },
    ),
    [
      'seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: type "container_engine_t"; user may not be set)',
    ],
  ],
  'SELinux, later': ['baseline', 31, secured({ seLinuxOptions: { type: 'container_engine_t' } }), []],
  'seccomp fields': [
    'baseline',
    19,
    secured({ seccompProfile: { type: 'Unconfined' } }),
    ['seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")'],
  ],
  'seccomp annotations': [
    'baseline',
    18,
    one({}, {}, { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } }),
    ['seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")'],
  ],
  sysctls: [
    'baseline',
    28,
    one(
      {},
      {
        securityContext: {
          sysctls: [{ name: 'net.ipv4.tcp_fin_timeout' }, { name: 'kernel.shm_rmid_forced' }, { name: 'x' }],
        },
      },
    ),
    ['forbidden sysctls (net.ipv4.tcp_fin_timeout, x)'],
  ],
  'Windows host process': [
    'baseline',
    LATEST,
    secured({ windowsOptions: { hostProcess: true } }, { securityContext: { windowsOptions: { hostProcess: true } } }),
    ['hostProcess (pod and container "a" must not set securityContext.windowsOptions.hostProcess=true)'],
  ],
  'privileged ephemeral container': [
    'baseline',
    LATEST,
    one({}, { ephemeralContainers: [{ name: 'e', securityContext: { privileged: true } }] }),
    ['privileged (container "e" must not set securityContext.privileged=true)'],
  ],
  '/proc of a pod with its own users': ['baseline', 35, secured({ procMount: 'Unmasked' }, { hostUsers: false }), []],
  '/proc, before': [
    'baseline',
    34,
    secured({ procMount: 'Unmasked' }, { hostUsers: false }),
    ['procMount (container "a" must not set securityContext.procMount to "Unmasked")'],
  ],
  '/proc, restricted': [
    'restricted',
    35,
    safe({ procMount: 'Unmasked' }, { hostUsers: false }),
    ['procMount (container "a" must not set securityContext.procMount to "Unmasked")'],
  ],
  'all is well': ['restricted', LATEST, safe({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }), []],
  'capabilities, restricted': [
    'restricted',
    LATEST,
    safe({ capabilities: { drop: ['NET_RAW'], add: ['CHOWN'] } }),
    [
      'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; ' +
        'container "a" must not include "CHOWN" in securityContext.capabilities.add)',
    ],
  ],
  'capabilities, before they had to be dropped': [
    'restricted',
    21,
    safe({ capabilities: { add: ['BPF'] } }),
    ['non-default capabilities (container "a" must not include "BPF" in securityContext.capabilities.add)'],
  ],
  volumes: [
    'restricted',
    LATEST,
    safe(
      {},
      {
        volumes: [
          { name: 'h', hostPath: {} },
          { name: 'n', nfs: {} },
          { name: 'e', emptyDir: {} },
        ],
      },
    ),
    ['restricted volume types (volumes "h", "n" use restricted volume types "hostPath", "nfs")'],
  ],
  'image volumes': [
    'restricted',
    LATEST,
    safe({}, { volumes: [{ name: 'i', image: {} }] }),
    ['restricted volume types (volume "i" uses restricted volume type "unknown")'],
  ],
  'root by number': [
    'restricted',
    LATEST,
    safe({ runAsUser: 0 }),
    ['runAsUser=0 (container "a" must not set runAsUser=0)'],
  ],
  'root by number, before': ['restricted', 22, safe({ runAsUser: 0 }), []],
  'root at last': [
    'restricted',
    LATEST,
    safe({ runAsNonRoot: false }, { securityContext: { runAsNonRoot: true } }),
    ['runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)'],
  ],
  'root among its own users': ['restricted', 35, safe({ runAsNonRoot: false, runAsUser: 0 }, { hostUsers: false }), []],
  'seccomp for all': [
    'restricted',
    LATEST,
    one(
      { securityContext: { ...SAFE, seccompProfile: undefined } },
      { securityContext: { seccompProfile: { type: 'Localhost' } } },
    ),
    [],
  ],
  'Windows knows no Linux': ['restricted', 25, secured({ runAsNonRoot: true }, { os: { name: 'windows' } }), []],
}

for (const [name, [level, minor, pod, expected]] of Object.entries(CASES)) {
  t.test(name, async t => t.strictSame(told(level, minor, pod), expected))
}

t.test('privileged asks nothing', async t => {
  t.same(told('privileged', LATEST, secured({ privileged: true })), [])
})

t.test('what baseline finds, restricted finds too', async () => {
  const context = fc.record(
    {
      privileged: fc.boolean(),
      procMount: fc.constantFrom('Default', 'Unmasked'),
      runAsUser: fc.constantFrom(0, 1),
      seccompProfile: fc.record({ type: fc.constantFrom('Unconfined', 'RuntimeDefault') }),
      capabilities: fc.record({ add: fc.subarray(['CHOWN', 'BPF', 'NET_BIND_SERVICE']) }),
    },
    { requiredKeys: [] },
  )
  const pods = fc.record(
    { hostNetwork: fc.boolean(), hostUsers: fc.boolean(), volumes: fc.constantFrom([], [{ name: 'v', hostPath: {} }]) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(pods, fc.array(context, { minLength: 1 }), fc.integer({ min: 0, max: 40 }), (spec, contexts, minor) => {
      const pod = {
        spec: { ...spec, containers: contexts.map((securityContext, i) => ({ name: `c${i}`, securityContext })) },
      }
      const mild = evaluate({ level: 'baseline', minor }, pod)
      const strict = reasonsText(evaluate({ level: 'restricted', minor }, pod))
      return mild.length === 0 || strict !== ''
    }),
  )
})
