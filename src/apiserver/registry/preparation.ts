/** Common parts of the preparation of new objects and of updates. */
import type { FieldSet } from '../../apimachinery/apply/fieldSet.ts'
import { refuseMistakableKeys } from '../../apimachinery/mistakableKeys.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { checkObjectSize, hasMoreValues } from '../../apimachinery/objectSize.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { pruneUnknown } from '../../apimachinery/structural/prune.ts'
import { isTidy } from '../../apimachinery/structural/tidy.ts'
import type { Strategy } from '../../kinds/strategy.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Encoded, Mutation, Store } from '../../storage/store.ts'
import { type Admission, type AdmissionRequest, runMutations, type SubresourceView } from './admission.ts'
import { encodeInSteps, encodeObject, type ParsedCache } from './codec.ts'
import type { WriteContext } from './context.ts'
import type { Circumstances } from './copies/circumstances.ts'
import { FORMS } from './forms.ts'
import { Judging } from './judging.ts'
import { LARGE_VALUES } from './largeWrites.ts'
import { ObjectRules, type ObjectRulesDeps, type PatchSource } from './objectRules.ts'
import { inVersionOf, otherVersions, type TypeLookup } from './otherVersions.ts'
import { Provenance, type Travel } from './provenance.ts'
import type { SharedObjects } from './sharedObjects.ts'
import { setManaged } from './systemMetadata.ts'
import { UnsetFields } from './unsetFields.ts'
import type { UpdateTrace } from './updateTrace.ts'
import { withWork, workOf } from './works.ts'

/** A mutation with the text that it leaves. */
export type TextMutation = Mutation & { readonly text: Encoded }

export interface RegistryDeps extends ObjectRulesDeps {
  store: Store
  parsed: ParsedCache
  /** Storage-version descriptor of a resource in a space. */
  storageType(space: string, type: ResourceType): ResourceType
  typeAt: TypeLookup
  admission: readonly Admission[]
  /** Objects that every space has without storing them. */
  shared?: SharedObjects
  /** Which objects travel between spaces. Absent: none does. */
  travel?: Travel
  clock: () => Date
  uuid: () => string
  random: () => number
  /** In whose slices large objects are written. Absent: at once. */
  turns?: WorkTurns
}

export interface UpdateOptions {
  /** `''` for the object itself. */
  subresource?: string
  /** Makes the object when it is missing (server-side apply, and PUT for kinds that allow it). */
  create?: (() => KubeObject) | { readonly steps: () => Steps<KubeObject> } | undefined
  /** Called before that. @throws StatusError Forbidden */
  mayCreate?: () => Promise<void>
  preconditions?: { uid?: string; resourceVersion?: string } | undefined
  /** The change is this patch: what it makes unreadable is an invalid patch (422) instead of a bad body (400). */
  fromPatch?: PatchSource | undefined
  /** The change brings its own managedFields (server-side apply). */
  managesFields?: boolean
  /** Trace of unset fields: one attempt's. */
  trace?: UpdateTrace | undefined
  /** An update of the object itself changes its status, too. */
  withStatus?: boolean | undefined
  /** Objects of other spaces say the same: the store may keep the body of the text once. */
  isShared?: boolean | undefined
  /** How admission sees a change that came through a sub-resource with a kind of its own (`scale`). */
  view?: SubresourceView & { subresource: string }
}

/** Preparation of one registry. */
export class Preparation {
  readonly deps: RegistryDeps
  readonly rules: ObjectRules
  readonly judging: Judging
  /** Absent where nothing travels. */
  readonly provenance: Provenance | undefined

  constructor(deps: RegistryDeps) {
    this.deps = deps
    this.rules = new ObjectRules(deps)
    this.judging = new Judging(deps, this.rules)
    this.provenance =
      deps.travel &&
      new Provenance(deps.travel, {
        has: type => this.rules.hasDefaults(type, deps.strategyFor(type)),
        apply: (type, object) => this.rules.applyDefaults(type, deps.strategyFor(type), object),
      })
  }

  /** Circumstances of a received object. */
  circumstances(context: WriteContext, type: ResourceType, sent: KubeObject): Circumstances {
    const { space } = context
    const target = this.target(space, type)
    const part = this.provenance?.partOf(space, target, sent)
    return { context, type, target, part, parameterized: this.deps.parameterized?.(space, target, sent) }
  }

  /** The descriptor of the version that objects of `type` are handled in. */
  target(space: string, type: ResourceType): ResourceType {
    return type.custom ? type : this.deps.storageType(space, type)
  }

  /**
   * The `mutate` steps, once or twice; the object's managedFields stay as they are. From there on the write goes by the context that
   * is returned: a small object may have become a large one. `unset`: followed through them, where that is at stake.
   */
  async mutate(
    steps: readonly Admission[],
    request: AdmissionRequest,
    target: ResourceType,
    strategy: Strategy | undefined,
    unset: FieldSet | undefined,
  ): Promise<{ context: WriteContext; unset: FieldSet | undefined }> {
    const { object, context } = request
    const { managedFields } = object.metadata
    const settle = (changed: KubeObject): void => {
      const rules = FORMS[target.form]
      // nearly all are: then one look is enough
      if (target.schema === undefined || !isTidy(changed, target.schema, rules.keepsEmpty)) {
        rules.dropNulls(changed, target.schema)
        pruneUnknown(changed, target.schema)
        const wrong = this.rules.typeErrors(request.context.space, target, changed)
        if (wrong) throw new Error(wrong)
      }
      this.rules.applyDefaults(target, strategy, changed)
    }
    const through = unset && new UnsetFields(object, unset, target.schema)
    await runMutations(steps, request, settle, through?.turn)
    setManaged(object, managedFields)
    request.context = withWork(context, workOf(this.deps.turns, context, hasMoreValues(object, LARGE_VALUES)))
    return { context: request.context, unset: through?.unset }
  }

  /** An object in the version in which it is handled, as its fields are claimed: in the version of the request. */
  asRequested(space: string, type: ResourceType, target: ResourceType, object: KubeObject) {
    const others = otherVersions(this.deps.typeAt, space, type)
    const shown = others.inVersion ? type : target
    const after = others.inVersion ? inVersionOf(type, object) : object
    return {
      inVersion: others.inVersion,
      zero: this.rules.zeroOf(shown),
      after,
      schema: shown.schema,
      apiVersion: after.apiVersion,
    }
  }
}

/** @throws StatusError RequestEntityTooLarge, BadRequest */
export function* encodeWithin(
  object: KubeObject,
  { old, isLarge, isShared }: { old?: KubeObject; isLarge: boolean; isShared?: boolean | undefined },
): Steps<Encoded> {
  const text = isLarge ? yield* encodeInSteps(object, isShared) : encodeObject(object, isShared)
  yield
  // a patch, a webhook or a default may have put one in; it begins with the quote that ends the revision
  refuseMistakableKeys(text.tail, 1)
  yield* checkObjectSize(object, text.head.length + text.tail.length, old)
  return text
}
