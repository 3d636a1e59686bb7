/** Gives the containers of a new Pod their token, as upstream's plug-in ServiceAccount does. Safe to repeat. */

import { at, ensure, list, records, str } from '../../apimachinery/fields.ts'
import { generateName } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { TOKEN_MOUNT_PATH, TOKEN_VOLUME_PREFIX, tokenVolume } from '../../apimachinery/tokenVolume.ts'

/** Ephemeral containers get none: a new Pod has none, and later ones choose for themselves. */
const CONTAINERS = ['initContainers', 'containers']

/** The Pod's own field counts, then that of its account. */
export function wantsToken(pod: KubeObject, account: Readonly<KubeObject>): boolean {
  const wanted = at(pod, 'spec', 'automountServiceAccountToken') ?? at(account, 'automountServiceAccountToken')
  return wanted !== false
}

/** `random`: from 0 to 1. */
export function mountToken(pod: KubeObject, random: () => number): void {
  const spec = ensure(pod, 'spec')
  const known = records(spec, 'volumes').find(volume => str(volume, 'name').startsWith(TOKEN_VOLUME_PREFIX))
  const name = known === undefined ? generateName(TOKEN_VOLUME_PREFIX, random) : str(known, 'name')
  const without = CONTAINERS.flatMap(kind => records(spec, kind)).filter(
    container => !records(container, 'volumeMounts').some(mount => mount.mountPath === TOKEN_MOUNT_PATH),
  )
  for (const container of without) {
    const mount = { name, mountPath: TOKEN_MOUNT_PATH, readOnly: true }
    container.volumeMounts = [...list(container, 'volumeMounts'), mount]
  }
  if (known === undefined && without.length > 0) spec.volumes = [...list(spec, 'volumes'), tokenVolume(name)]
}
