"""Models of six packages and ten training graphs, chosen by a rule before any of them was tried.

The rule: of timm's modules in alphabetical order those at each eleventh, each with its first model of fewer than 20
million parameters; of torchvision's classifiers those at each fifth, and the first and last segmentation model; of
transformers' kinds of models in alphabetical order those at each thirteenth; of segmentation_models_pytorch's
architectures each third; of diffusers the first three networks for images and two autoencoders; of torchaudio the
first four models. Kinds that the tests have are left out. A model that cannot be made small, or that torch does not
export, is replaced by the next one in the same order that is not chosen yet.

Ten further models, by the same parts of these lists from their ends: of timm those of the second, fifth and eighth
part, of transformers those of the third, sixth, ninth and twelfth, of torchvision those of the first, third and fifth.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType

TIMM = 10
LARGEST = 20_000_000


def _from(order, n, parts):
    """Return the members of a list from the n-th of equal parts up to the next part."""
    return order[len(order) * n // parts : len(order) * (n + 1) // parts]


def timm_modules():
    """Yield the timm modules of the rule, each with those that may replace it."""
    import timm
    from exported_models import CASES
    from exported_others import OTHERS

    taken = {*CASES, *OTHERS}
    modules = [m for m in timm.list_modules() if not any(m.startswith(t[:6]) for t in taken)]
    yield from (_from(modules, n, TIMM + 1) for n in range(1, TIMM + 1))


def torchvision_names():
    """Yield the torchvision models of the rule, each with those that may replace it."""
    import torchvision

    models = torchvision.models.list_models(module=torchvision.models)
    yield from (_from(models, n, 5) for n in range(1, 5))
    segmenters = torchvision.models.list_models(module=torchvision.models.segmentation)
    yield from (segmenters[:-1], segmenters[-1:])


SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
    "num_layers": 2, "num_heads": 4, "n_layer": 2, "n_head": 4, "n_embd": 32, "dim": 32, "n_layers": 2, "n_heads": 4,
    "hidden_dim": 64, "max_position_embeddings": 64, "d_kv": 8, "d_ff": 64, "embedding_size": 16, "pad_token_id": 0,
    "emb_dim": 32, "num_encoder_layers": 2, "num_decoder_layers": 2,
}  # fmt: skip
"""Settings that make a configuration of transformers small."""


def transformers_kinds():
    """Return the kinds of models of the rule, each with those that may replace it."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    kinds = sorted(MODEL_MAPPING_NAMES)
    return [_from(kinds, n, 13) for n in range(1, 13)]


def _shrink(config):
    """Make a configuration and those in it small, and leave caches out, which torch exports only registered."""
    for name, value in SMALL.items():
        if hasattr(config, name):
            setattr(config, name, value)
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:2]
    config.use_cache = False
    for part in list(vars(config).values()):
        if hasattr(part, "to_dict") and hasattr(part, "model_type"):
            _shrink(part)


def small_transformer(kind):
    """Return a small model of a kind with its arguments; raises an error if it takes no texts."""
    import torch
    from exported_models import Case
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.for_model(kind)
    _shrink(config)
    with torch.device("meta"):  # without memory
        model = AutoModel.from_config(config, attn_implementation="eager")
    if sum(p.numel() for p in model.parameters()) > LARGEST:
        raise ValueError("it is large")
    model = AutoModel.from_config(config, attn_implementation="eager").eval()
    taken = inspect.signature(model.forward).parameters  # of the method that a decorator wraps
    names = {}
    kwargs = {}
    if model.main_input_name == "input_ids":
        for name in ("input_ids", "attention_mask"):
            if name in taken:
                kwargs[name], names[name] = torch.ones(2, 11, dtype=torch.int64), {0: "batch", 1: "seq"}
        if getattr(config, "is_encoder_decoder", False):
            kwargs["decoder_input_ids"] = torch.ones(2, 7, dtype=torch.int64)
            names["decoder_input_ids"] = {0: "batch", 1: "length"}
    elif model.main_input_name == "pixel_values":
        size = getattr(config, "image_size", 64)
        size = size if isinstance(size, int) else size[0]
        kwargs["pixel_values"] = torch.randn(2, getattr(config, "num_channels", 3), size, size)
        names["pixel_values"] = {0: "batch", 2: "H", 3: "W"}
    else:
        raise ValueError(model.main_input_name)
    return Case(model, (), names, kwargs)


def image_case(model, size=96):
    """Return a model of images with its arguments."""
    import torch
    from exported_models import Case

    name = next(iter(inspect.signature(model.forward).parameters))
    return Case(model.eval(), (torch.randn(2, 3, size, size),), {name: {0: "batch", 2: "H", 3: "W"}})


def timm_case(module):
    """Return the first model of a module that has few parameters."""
    import timm
    import torch
    from timm.data import resolve_model_data_config

    with torch.device("meta"):
        name = next(m for m in timm.list_models(module=module) if _is_small(timm, m))
    model = timm.create_model(name)
    return image_case(model, resolve_model_data_config(model)["input_size"][-1])


def _is_small(timm, name):
    try:
        return sum(p.numel() for p in timm.create_model(name).parameters()) < LARGEST
    except Exception:
        return False


def torchvision_case(name):
    import torchvision

    options = (
        {"weights_backbone": None} if name in torchvision.models.list_models(torchvision.models.segmentation) else {}
    )
    return image_case(torchvision.models.get_model(name, weights=None, **options), 224)


def segmentation_case(name):
    import segmentation_models_pytorch as smp

    encoder = "tu-vit_tiny_patch16_224" if name == "DPT" else "resnet18"
    return image_case(getattr(smp, name)(encoder, encoder_weights=None), 224 if name == "DPT" else 128)


AUDIO = (["Conformer", "HDemucs", "Wav2Vec2Model"], ["ConvTasNet"], ["DeepSpeech"], ["Wav2Letter"])


def audio_case(name):
    import torch
    import torchaudio
    from exported_models import Case

    models = torchaudio.models
    if name == "Conformer":
        model = models.Conformer(16, 4, 32, 2, 3)
        args = (torch.randn(2, 40, 16), torch.tensor([40, 30]))
        return Case(model.eval(), args, {"input": {0: "batch", 1: "time"}, "lengths": {0: "batch"}})
    if name == "ConvTasNet":
        model = models.ConvTasNet(2, 16, 16, 3, 8, 16, 2, 1)
        return Case(model.eval(), (torch.randn(2, 1, 400),), {"input": {0: "batch", 2: "time"}})
    if name == "DeepSpeech":
        model = models.DeepSpeech(16, 32, 10)
        return Case(model.eval(), (torch.randn(2, 1, 20, 16),), {"x": {0: "batch", 2: "time"}})
    if name == "HDemucs":
        model = models.HDemucs(["voice", "rest"], channels=4, depth=5, nfft=1024)
        return Case(model.eval(), (torch.randn(2, 2, 8192),), {"input": {0: "batch", 2: "time"}})
    if name == "Wav2Vec2Model":
        model = models.wav2vec2_model("layer_norm", [(16, 10, 5), (16, 3, 2)], False, 32, 0, 4, 4, 2, 4, 0, 0, 64, 0,
                                      False, 0, 10)  # fmt: skip
        return Case(model.eval(), (torch.randn(2, 800),), {"waveforms": {0: "batch", 1: "time"}})
    model = models.Wav2Letter(10, "mfcc", 13)
    return Case(model.eval(), (torch.randn(2, 13, 200),), {"x": {0: "batch", 2: "time"}})


def diffusers_case(name):
    import diffusers
    import torch
    from exported_models import Case

    small = {"sample_size": 32, "block_out_channels": (16, 32), "layers_per_block": 1, "norm_num_groups": 4}
    images = {0: "batch", 2: "H", 3: "W"}
    if name == "UNet2DModel":
        model = diffusers.UNet2DModel(**small, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                                      up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=8)  # fmt: skip
        args = (torch.randn(2, 3, 32, 32), torch.tensor([1, 2]))
        return Case(model.eval(), args, {"sample": images, "timestep": {0: "batch"}})
    if name == "UNet2DConditionModel":
        model = diffusers.UNet2DConditionModel(**small, cross_attention_dim=16, attention_head_dim=8,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))  # fmt: skip
        args = (torch.randn(2, 4, 32, 32), torch.tensor([1, 2]), torch.randn(2, 7, 16))
        names = {"sample": images, "timestep": {0: "batch"}, "encoder_hidden_states": {0: "batch", 1: "words"}}
        return Case(model.eval(), args, names)
    if name == "DiTTransformer2DModel":
        sizes = {"num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 2, "sample_size": 16}
        model = diffusers.DiTTransformer2DModel(**sizes, in_channels=4, patch_size=2, norm_num_groups=4)
        args = (torch.randn(2, 4, 16, 16), torch.tensor([1, 2]), torch.tensor([1, 2]))
        names = {"hidden_states": images, "timestep": {0: "batch"}, "class_labels": {0: "batch"}}
        return Case(model.eval(), args, names)
    kinds = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    if name == "AutoencoderKL":
        model = diffusers.AutoencoderKL(**small, **kinds)
    else:
        model = diffusers.VQModel(**small, **kinds)
    return Case(model.eval(), (torch.randn(2, 3, 32, 32),), {"sample": images})


def chosen():
    """Return the models of the rule: the package, and the model's name followed by those that may replace it."""
    import segmentation_models_pytorch as smp
    from training_graphs import TRAINING

    architectures = sorted(n for n in dir(smp) if isinstance(getattr(smp, n), type))
    networks = ("UNet2DModel", "UNet2DConditionModel", "DiTTransformer2DModel", "AutoencoderKL", "VQModel")
    return [
        *(("timm", names) for names in timm_modules()),
        *(("torchvision", names) for names in torchvision_names()),
        *(("transformers", names) for names in transformers_kinds()),
        *(("segmentation", architectures[n : n + 3]) for n in range(0, len(architectures), 3)),
        *(("diffusers", [name]) for name in networks),
        *(("audio", names) for names in AUDIO),
        *(("training", [name]) for name in TRAINING),
    ]


def further():
    """Return the ten further models, each followed by those that may replace it."""
    parts = {"timm": list(timm_modules())[1:8:3], "transformers": transformers_kinds()[2::3]}
    parts["torchvision"] = list(torchvision_names())[:5:2]
    return [(package, part[::-1]) for package, found in parts.items() for part in found]


def case_of(package, name):
    """Return a model with its arguments; raises an error if it cannot be made small."""
    from training_graphs import TRAINING

    makers = {"timm": timm_case, "torchvision": torchvision_case, "transformers": small_transformer,
              "segmentation": segmentation_case, "diffusers": diffusers_case, "audio": audio_case}  # fmt: skip
    return TRAINING[name]() if package == "training" else makers[package](name)


def allow_imports():
    """Let torchvision and torchaudio be imported with a build of torch that their operators do not fit."""
    from exported_models import _vision

    _vision()
    without = ModuleType("torchaudio._extension")
    without._IS_TORCHAUDIO_EXT_AVAILABLE, without.fail_if_no_align = False, lambda function: function
    sys.modules.setdefault(without.__name__, without)
