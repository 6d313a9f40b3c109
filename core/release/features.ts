export { checkFeatures, isFeatureName } from '../entry/features.ts'
