/** Reports of the embedded client's writes to the recorder. A server without an audit policy has none. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { UserInfo } from '../auth/types.ts'
import type { WriteContext } from '../registry/context.ts'

export interface EmbeddedWrite {
  verb: 'create' | 'update' | 'patch' | 'delete'
  user: UserInfo
  /** Logical-cluster id. */
  space: string
  type: ResourceType
  namespace: string
  name: string
  subresource: string
}

export interface WriteTrail {
  annotate: NonNullable<WriteContext['annotate']>
  /** `sent` and `result` are called only on demand. */
  done(code: number, sent: () => unknown, result: () => KubeObject | undefined): void
  failed(error: unknown): void
}

export interface WriteAudit {
  /** `undefined` where the policy records nothing of the write. */
  beginWrite(write: EmbeddedWrite): WriteTrail | undefined
}
