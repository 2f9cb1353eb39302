"""The former name of `losses.minimum`, kept until 0.3."""

import sys
import warnings

from losses import minimum

warnings.warn("losses.landmarks is losses.minimum now", FutureWarning, stacklevel=2)
sys.modules[__name__] = minimum
