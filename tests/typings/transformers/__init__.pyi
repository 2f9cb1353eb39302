# What the names that we and the libraries around us import from transformers are, without its
# models: it gathers those of 400 architectures, and a type checker would read every one of them.

from tokenizers import AddedToken as AddedToken
from transformers.cache_utils import Cache as Cache
from transformers.cache_utils import DynamicCache as DynamicCache
from transformers.cache_utils import EncoderDecoderCache as EncoderDecoderCache
from transformers.configuration_utils import PretrainedConfig as PretrainedConfig
from transformers.data.data_collator import (
    DataCollatorWithFlattening as DataCollatorWithFlattening,
)
from transformers.feature_extraction_utils import FeatureExtractionMixin as FeatureExtractionMixin
from transformers.generation.configuration_utils import GenerationConfig as GenerationConfig
from transformers.generation.utils import GenerationMixin as GenerationMixin
from transformers.image_processing_base import ImageProcessingMixin as ImageProcessingMixin
from transformers.modeling_utils import PreTrainedModel as PreTrainedModel
from transformers.models.auto.configuration_auto import AutoConfig as AutoConfig
from transformers.models.auto.modeling_auto import AutoModel as AutoModel
from transformers.models.auto.modeling_auto import AutoModelForCausalLM as AutoModelForCausalLM
from transformers.models.auto.modeling_auto import AutoModelForMaskedLM as AutoModelForMaskedLM
from transformers.models.auto.modeling_auto import (
    AutoModelForMultimodalLM as AutoModelForMultimodalLM,
)
from transformers.models.auto.modeling_auto import (
    AutoModelForQuestionAnswering as AutoModelForQuestionAnswering,
)
from transformers.models.auto.modeling_auto import AutoModelForSeq2SeqLM as AutoModelForSeq2SeqLM
from transformers.models.auto.modeling_auto import (
    AutoModelForSequenceClassification as AutoModelForSequenceClassification,
)
from transformers.models.auto.modeling_auto import (
    AutoModelForTokenClassification as AutoModelForTokenClassification,
)
from transformers.models.auto.processing_auto import AutoProcessor as AutoProcessor
from transformers.models.auto.tokenization_auto import AutoTokenizer as AutoTokenizer
from transformers.processing_utils import ProcessorMixin as ProcessorMixin
from transformers.tokenization_python import PreTrainedTokenizer as PreTrainedTokenizer
from transformers.tokenization_utils_base import PreTrainedTokenizerBase as PreTrainedTokenizerBase
from transformers.tokenization_utils_tokenizers import (
    PreTrainedTokenizerFast as PreTrainedTokenizerFast,
)
from transformers.trainer import Trainer as Trainer
from transformers.trainer_callback import PrinterCallback as PrinterCallback
from transformers.trainer_callback import TrainerCallback as TrainerCallback
from transformers.trainer_callback import TrainerControl as TrainerControl
from transformers.trainer_callback import TrainerState as TrainerState
from transformers.trainer_utils import EvalPrediction as EvalPrediction
from transformers.trainer_utils import set_seed as set_seed
from transformers.training_args import TrainingArguments as TrainingArguments
from transformers.utils.import_utils import is_datasets_available as is_datasets_available
from transformers.utils.import_utils import is_torch_npu_available as is_torch_npu_available

__version__: str
