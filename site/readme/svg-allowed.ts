/** What a drawing may contain: shapes, text, gradients, filters and animations without links. */

/** Elements that are kept. Any other element is removed with its content. */
export const SVG_TAGS: ReadonlySet<string> = new Set(
  words(`svg g defs symbol use title desc switch path rect circle ellipse line polyline polygon text
    tspan textPath linearGradient radialGradient stop clipPath mask pattern marker filter style
    feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting
    feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
    feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting
    feSpotLight feTile feTurbulence animate animateMotion animateTransform mpath`),
)

/** Elements that are removed, but not their content. */
export const SVG_OPENED: ReadonlySet<string> = new Set(['a'])

/** Attributes that are kept. */
export const SVG_ATTRIBUTES: ReadonlySet<string> = new Set(
  words(`accumulate additive alignment-baseline amplitude attributeName azimuth baseFrequency
    baseline-shift begin bias by calcMode class clip clip-path clip-rule clipPathUnits color
    color-interpolation color-interpolation-filters cursor cx cy d diffuseConstant direction display
    divisor dominant-baseline dur dx dy edgeMode elevation end exponent fill fill-opacity fill-rule
    filter filterUnits flood-color flood-opacity font-family font-size font-size-adjust font-stretch
    font-style font-variant font-weight from fr fx fy gradientTransform gradientUnits height id
    image-rendering in in2 intercept k1 k2 k3 k4 kernelMatrix keyPoints keySplines keyTimes
    lengthAdjust letter-spacing lighting-color limitingConeAngle marker-end marker-mid marker-start
    markerHeight markerUnits markerWidth mask mask-type maskContentUnits maskUnits max method min
    mode numOctaves offset opacity operator order orient origin overflow paint-order path pathLength
    patternContentUnits patternTransform patternUnits points pointsAtX pointsAtY pointsAtZ
    preserveAlpha preserveAspectRatio primitiveUnits r radius refX refY repeatCount repeatDur result
    role rotate rx ry scale seed shape-rendering side slope spacing specularConstant
    specularExponent spreadMethod startOffset stdDeviation stitchTiles stop-color stop-opacity
    stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit
    stroke-opacity stroke-width style surfaceScale systemLanguage tableValues targetX targetY
    text-anchor text-decoration text-rendering textLength to transform transform-box
    transform-origin type unicode-bidi values vector-effect viewBox visibility white-space width
    word-spacing writing-mode x x1 x2 xChannelSelector y y1 y2 yChannelSelector z`),
)

function words(text: string): string[] {
  return text.split(/\s+/)
}
